import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addPod, reflectPod, replyAddress, until } from './harness.ts';
import { Scenario, tellOfNode } from './scenario.ts';

const OTHERS = 600;
/** More than the events that may be queued, and those of the time in which the changes arrive. */
const FEW = 200;

describe('a storm of changes', () => {
  it('delays the record of a pod of this node by few of them', async () => {
    await using scenario = await Scenario.start();
    const { running, node } = scenario;
    const pod = { name: 'own', containerId: 'a'.repeat(64), netns: '/run/netns/own' };
    const reply = await addPod(running, pod);
    const { history, eventCount: first } = running.agent.controller;
    const others = Array.from({ length: OTHERS }, (_, at) =>
      tellOfNode(node, `other${at}`, { address: `172.17.${at >> 8}.${at & 255}` }),
    );
    await Promise.all([...others, reflectPod(node, pod, replyAddress(reply))]);
    const keys = () =>
      history.records
        .filter(({ seqNum }) => seqNum >= first)
        .flatMap(({ trace }) => trace.origin?.key ?? []);
    await until(() => keys().length > OTHERS);
    const position = keys().findIndex((key) => key.includes('/pod/own/'));
    assert.ok(position >= 0 && position < FEW, `${position} of ${keys().length}`);
  });
});
