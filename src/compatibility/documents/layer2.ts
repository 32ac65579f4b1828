/** `/dump/vpp/v2/bd`, `/fib` and `/xc`. */
import type { Route } from '#infra/http/route.ts';
import { type BridgeDomain, bridgeDomainModel } from '#models/vpp/bridge-domain.ts';
import { type FIBEntry, fibEntryModel } from '#models/vpp/fib-entry.ts';
import { type XConnectPair, xConnectModel } from '#models/vpp/xconnect.ts';
import type { BridgeDomainMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { type DocumentDeps, documentRoute, listOf, mapOf } from '../document.ts';
import { structJsonOf } from '../message-json.ts';

export function layer2Documents(deps: DocumentDeps): Route[] {
  const { clock } = deps;
  return [
    documentRoute('/dump/vpp/v2/bd', 'bridge domains', clock, () => bridgeDomains(deps)),
    documentRoute('/dump/vpp/v2/fib', 'entries of bridge domains by MAC', clock, () =>
      fibEntries(deps),
    ),
    documentRoute('/dump/vpp/v2/xc', 'cross-connects by receiving interface', clock, () =>
      crossConnects(deps),
    ),
  ];
}

async function bridgeDomains({ southbound, clock }: DocumentDeps) {
  const found = await southbound.read<BridgeDomain, BridgeDomainMetadata>('vpp-bridge-domain');
  return listOf(clock, found, ({ value, metadata: { bdId } }) => ({
    bridge_domain: structJsonOf(bridgeDomainModel, value),
    bridge_domain_meta: { bridge_domain_id: bdId },
  }));
}

async function fibEntries({ southbound, clock }: DocumentDeps) {
  const found = await southbound.read<FIBEntry>('vpp-l2-fib');
  return mapOf(clock, found, ({ value }) => [
    value.phys_address,
    {
      fib: structJsonOf(fibEntryModel, value),
      fib_meta: {
        bridge_domain_id: southbound.indexOfBridgeDomain(value.bridge_domain),
        outgoing_interface_sw_if_idx: southbound.indexOfInterface(value.outgoing_interface),
      },
    },
  ]);
}

async function crossConnects({ southbound, clock }: DocumentDeps) {
  const found = await southbound.read<XConnectPair>('vpp-xconnect');
  return mapOf(clock, found, ({ value }) => {
    const receive_interface_sw_if_index = southbound.indexOfInterface(value.receive_interface);
    return [
      receive_interface_sw_if_index,
      {
        x_connect: structJsonOf(xConnectModel, value),
        x_connect_meta: {
          receive_interface_sw_if_index,
          transmit_interface_sw_if_index: southbound.indexOfInterface(value.transmit_interface),
        },
      },
    ];
  });
}
