/**
 * The order of backends: local ones first, then by a hash of this node and the backend. A renderer that
 * cannot carry all uses the first ones, so the nodes together use all of them, and backends that come or
 * go do not change the order of the others.
 */
import type { Endpoint } from './endpoint-list.ts';

export type BackendOrder = (endpoints: readonly Endpoint[]) => Endpoint[];

export function backendOrder(nodeName: string): BackendOrder {
  const seed = addText(FNV_OFFSET, nodeName);
  return (endpoints) =>
    endpoints
      .map((endpoint) => ({
        endpoint,
        hash: mixed(addText(seed, `${endpoint.address} ${endpoint.port}`)),
      }))
      .sort(
        (a, b) =>
          Number(b.endpoint.isLocal) - Number(a.endpoint.isLocal) ||
          a.hash - b.hash ||
          compareEndpoints(a.endpoint, b.endpoint),
      )
      .map(({ endpoint }) => endpoint);
}

function compareEndpoints(a: Endpoint, b: Endpoint): number {
  if (a.address !== b.address) return a.address < b.address ? -1 : 1;
  return a.port - b.port;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a. */
function addText(hash: number, text: string): number {
  let sum = hash;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), FNV_PRIME);
  return sum;
}

/** Spreads the differences of similar texts over all bits. */
function mixed(hash: number): number {
  let bits = hash;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
