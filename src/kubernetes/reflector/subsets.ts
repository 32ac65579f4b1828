/**
 * Groups backends into the subsets of an Endpoints value: addresses with equal ports are in one
 * subset. The result does not depend on the order of the backends.
 */

import { atOnce, type Steps } from '#infra/clock/steps.ts';
import { ipFamily, parseIp } from '#models/ip.ts';
import type { DeepInput } from '#models/model.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset } from '../models/endpoints.ts';
import { addressOrText } from '../models/shared-rules.ts';
import type { Readers } from './reflected.ts';

/** `draining`: terminating, but still serving. Listed from best to worst. */
export type BackendState = 'ready' | 'draining' | 'not-ready';

export interface Backend {
  readonly address: DeepInput<EndpointAddress> & { readonly ip: string };
  readonly state: BackendState;
  readonly ports: readonly EndpointPort[];
}

export interface BackendSubset {
  readonly addresses: readonly Backend['address'][];
  readonly not_ready_addresses: readonly Backend['address'][];
  readonly ports: readonly EndpointPort[];
}

const rank: Readonly<Record<BackendState, number>> = { ready: 0, draining: 1, 'not-ready': 2 };

interface MergedBackend {
  readonly address: Backend['address'];
  /** The best state of each port. */
  readonly ports: Map<string, { readonly port: EndpointPort; readonly state: BackendState }>;
  /** Best state of a backend without ports. */
  portless: BackendState | undefined;
}

/**
 * Draining backends serve if no other backend is ready. Agents of the original do not support them,
 * so for `mixed` readers they are omitted while another backend is ready for the same port.
 */
export function subsetsOf(
  backends: readonly Backend[],
  readers: Readers,
): DeepInput<EndpointSubset>[] {
  return atOnce(subsetsInSteps(backends, readers));
}

export function* subsetsInSteps(
  backends: readonly Backend[],
  readers: Readers,
): Steps<BackendSubset[]> {
  const seen = new Map<string, MergedBackend>();
  for (const backend of backends) {
    yield;
    addBackend(seen, backend);
  }
  if (readers === 'mixed') dropUnneededDraining(seen);
  yield;
  const subsets = new Map<string, Subset>();
  for (const one of seen.values()) {
    yield;
    for (const [state, ports] of portsByState(one)) addToSubset(subsets, one.address, state, ports);
  }
  const sorted: BackendSubset[] = [];
  for (const [, { ready, notReady, ports }] of sortedBy([...subsets], ([name]) => name))
    sorted.push({
      addresses: yield* sortedAddresses(ready),
      not_ready_addresses: yield* sortedAddresses(notReady),
      ports,
    });
  return sorted;
}

/** Adds a backend; one that is listed twice, as while it moves between slices, is merged. */
function addBackend(seen: Map<string, MergedBackend>, backend: Backend): void {
  const { state, ports } = backend;
  const address = { ...backend.address, ip: addressOrText(backend.address.ip) };
  const name = `${address.ip} ${address.target_ref?.namespace} ${address.target_ref?.name}`;
  let one = seen.get(name);
  if (one === undefined) {
    one = { address, ports: new Map(), portless: undefined };
    seen.set(name, one);
  }
  if (ports.length === 0) one.portless = better(one.portless, state);
  for (const port of ports) {
    const text = portText(port);
    one.ports.set(text, { port, state: better(one.ports.get(text)?.state, state) });
  }
}

function dropUnneededDraining(seen: Map<string, MergedBackend>): void {
  const served = new Set<string>();
  const name = (one: MergedBackend, port: string): string =>
    `${sortableIp(one.address.ip)[0]} ${port}`;
  for (const one of seen.values()) {
    for (const [port, { state }] of one.ports) if (state === 'ready') served.add(name(one, port));
    if (one.portless === 'ready') served.add(name(one, ''));
  }
  for (const one of seen.values()) {
    for (const [port, { state }] of one.ports) {
      if (state === 'draining' && served.has(name(one, port))) one.ports.delete(port);
    }
    if (one.portless === 'draining' && served.has(name(one, ''))) one.portless = undefined;
  }
}

function better(known: BackendState | undefined, state: BackendState): BackendState {
  return known === undefined || rank[state] < rank[known] ? state : known;
}

function portsByState(one: MergedBackend): Map<BackendState, EndpointPort[]> {
  const byState = new Map<BackendState, EndpointPort[]>();
  for (const { port, state } of one.ports.values()) {
    const ports = byState.get(state);
    if (ports === undefined) byState.set(state, [port]);
    else ports.push(port);
  }
  if (one.ports.size === 0 && one.portless !== undefined) byState.set(one.portless, []);
  return byState;
}

interface Subset {
  readonly ports: readonly EndpointPort[];
  readonly ready: Backend['address'][];
  readonly notReady: Backend['address'][];
}

function addToSubset(
  subsets: Map<string, Subset>,
  address: Backend['address'],
  state: BackendState,
  ports: readonly EndpointPort[],
): void {
  const sorted = sortedBy(ports, portText);
  // separate subsets for the families, IPv4 first
  const name = `${sortableIp(address.ip)[0]} ${sorted.map(portText).join(' ')}`;
  let subset = subsets.get(name);
  if (subset === undefined) {
    subset = { ports: sorted, ready: [], notReady: [] };
    subsets.set(name, subset);
  }
  if (state === 'ready') subset.ready.push(address);
  else if (state === 'not-ready') subset.notReady.push(address);
  else subset.notReady.push({ ...address, serving_while_terminating: true });
}

function* sortedAddresses(
  addresses: readonly Backend['address'][],
): Steps<readonly Backend['address'][]> {
  const texts = new Map<Backend['address'], string>();
  for (const address of addresses) {
    yield;
    texts.set(address, `${sortableIp(address.ip)} ${address.target_ref?.name}`);
  }
  return sortedBy(addresses, (address) => texts.get(address) as string);
}

/** Sort key of an address: family, then bytes. */
function sortableIp(text: string): string {
  const bytes = parseIp(text);
  if (bytes === undefined) return `9${text}`;
  return `${ipFamily(bytes)}${Buffer.from(bytes).toString('hex')}`;
}

function portText({ name, protocol, port }: EndpointPort): string {
  return `${name}/${protocol}/${String(port).padStart(5, '0')}`;
}

function sortedBy<T>(list: readonly T[], text: (element: T) => string): T[] {
  return list
    .map((element) => ({ element, text: text(element) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ element }) => element);
}
