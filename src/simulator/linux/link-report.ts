import type { LinkReport } from '#linux/api.ts';
import { isRunning, type SimLink } from './link.ts';

const bits = {
  up: 0x1,
  broadcast: 0x2,
  loopback: 0x8,
  running: 0x40,
  multicast: 0x1000,
  lowerUp: 0x1_0000,
} as const;

const UNKNOWN = 0;
const DOWN = 2;
const LOWER_LAYER_DOWN = 7;
const UP = 6;

/** A simulated link counts no packets. */
const noCounters = {
  rxPackets: 0,
  txPackets: 0,
  rxBytes: 0,
  txBytes: 0,
  rxErrors: 0,
  txErrors: 0,
  rxDropped: 0,
  txDropped: 0,
} as const;

export function reportOf(link: SimLink): LinkReport {
  return {
    index: link.index,
    name: link.name,
    parentIndex: link.peer?.index ?? 0,
    masterIndex: 0,
    operState: operState(link),
    flags: flagsOf(link),
    encapsulation: link.kind === 'loopback' ? 'loopback' : 'ether',
    rxQueues: 1,
    txQueues: 1,
    txQueueLength: 1000,
    counters: noCounters,
  };
}

function operState(link: SimLink): number {
  if (!link.up) return DOWN;
  if (isRunning(link)) return link.kind === 'loopback' ? UNKNOWN : UP;
  return link.kind === 'veth' ? LOWER_LAYER_DOWN : DOWN;
}

function flagsOf(link: SimLink): number {
  const kind = link.kind === 'loopback' ? bits.loopback : bits.broadcast | bits.multicast;
  const up = link.up ? bits.up : 0;
  return kind | up | (isRunning(link) ? bits.running | bits.lowerUp : 0);
}
