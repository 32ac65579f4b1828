/** Traces of sockets that do not reach a service. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { socketServiceKey, socketServiceModel } from '#models/linux/socket-service.ts';
import type { RestrictedAddress } from '#packet-trace/isolation.ts';
import { socketsOfValues } from '#packet-trace/sockets.ts';
import { tracePacket } from '#packet-trace/tracer.ts';
import { device, iface, via } from './snapshot-builder.ts';

const balanced = { address: '203.0.113.9', port: 80, protocol: 'TCP' } as const;

/** A pod asks a service whose mapping has no backend. */
function refusal(services: readonly RestrictedAddress[]): string {
  const frontends = [{ ...balanced, scope: 'ADDRESS' as const }];
  const value = socketServiceModel.canonical({ name: 'shop/lb', mappings: [{ frontends }] });
  const sockets = socketsOfValues(new Map([[socketServiceKey.build({ name: 'shop/lb' }), value]]));
  const pod = device('pod', {
    forwards: false,
    interfaces: [iface('eth0', ['10.1.1.2/24'])],
    routes: [via('0.0.0.0/0', 'eth0', '10.1.1.1')],
  });
  const isolation = { acls: [], pods: [], services };
  const snapshot = { devices: new Map([['pod', { ...pod, sockets, isolation }]]), wires: [] };
  const { verdict, hops } = tracePacket(snapshot, 'pod', {
    source: '10.1.1.2',
    sourcePort: 40_000,
    destination: balanced.address,
    destinationPort: balanced.port,
    protocol: balanced.protocol,
  });
  return `${verdict}: ${hops.at(-1)?.description}`;
}

describe('a socket that asks a service without backends for it', () => {
  const ranges = ['198.51.100.0/24'];

  it('is refused by the source ranges of the service, if they do not permit the pods of the node', () => {
    assert.equal(
      refusal([{ service: 'shop/lb', ...balanced, ranges, refusesSockets: true }]),
      'refused: refused: loadBalancerSourceRanges of service shop/lb permit clients in ' +
        '198.51.100.0/24 only, not all pods of this node',
    );
  });

  it('else because there is none', () => {
    const none = 'refused: refused: the service at 203.0.113.9 port 80 has no backend';
    assert.equal(refusal([]), none);
    const open = { service: 'shop/lb', ...balanced, ranges, refusesSockets: false };
    assert.equal(refusal([open]), none);
  });
});
