/**
 * A plugin that gives every pod a second interface, into a network of its own.
 *
 * It follows ipv4net in the list of handlers, so the transaction of each event contains the values that
 * ipv4net has put for a pod: the first interface is the pattern of the second, and its MTU is lowered to
 * that of both. The plugin keeps no state. Its desired values follow from the state of the plugins
 * before it, so there is nothing to revert, and a resync equals an Add Pod for every attached pod.
 */

import { linuxArpModel } from '#models/linux/arp.ts';
import {
  type LinuxInterface,
  linuxInterfaceKey,
  linuxInterfaceModel,
} from '#models/linux/interface.ts';
import { linuxRouteModel } from '#models/linux/route.ts';
import { vppArpModel } from '#models/vpp/arp.ts';
import { type VppInterface, vppInterfaceKey, vppInterfaceModel } from '#models/vpp/interface.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import type { Transaction } from '#plugins/controller/api/transaction.ts';
import type { IpamApi } from '#plugins/ipam/api.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';
import {
  AddPod,
  type AddPodReply,
  type Attachment,
  type AttachmentId,
  attachmentId,
  DeletePod,
  type PodManagerApi,
  podIdText,
} from '#plugins/podmanager/api.ts';

export interface SecondInterfaceOptions {
  /** The first two numbers of the second network, for example `10.200`; a /16 of IPv4. */
  readonly network: string;
  /** Of both links of a pod. */
  readonly mtu: number;
}

export interface SecondInterfaceDeps {
  readonly pods: Pick<PodManagerApi, 'attachments'>;
  readonly ipam: Pick<IpamApi, 'podAddresses'>;
  readonly net: Pick<Ipv4NetApi, 'podInterfaces'>;
}

export function createSecondInterface(
  options: SecondInterfaceOptions,
  deps: SecondInterfaceDeps,
): EventHandler {
  return new SecondInterface(options, deps);
}

/** Limit of Linux for names of links. */
const LINK_NAME_LENGTH = 15;

/** Both ends of an interface of a pod. */
interface Link {
  readonly vpp: VppInterface;
  readonly linux: LinuxInterface;
  /** Plain. */
  readonly address: string;
}

class SecondInterface implements EventHandler {
  readonly name = 'second-interface';
  readonly #options: SecondInterfaceOptions;
  readonly #deps: SecondInterfaceDeps;

  constructor(options: SecondInterfaceOptions, deps: SecondInterfaceDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  handlesEvent(event: Event): boolean {
    // A handler that puts values must handle every resync, or its values are deleted.
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    return AddPod.is(event) || DeletePod.is(event);
  }

  resync({ txn }: ResyncContext): void {
    for (const attachment of this.#deps.pods.attachments().values()) this.#extend(txn, attachment);
  }

  update({ event, txn }: UpdateContext): UpdateResult {
    if (DeletePod.is(event)) {
      txn.replace(groupOf(attachmentId(event.payload)), []);
      return { change: `second interface of ${podIdText(event.payload.pod)} goes` };
    }
    if (!AddPod.is(event)) return {};
    const attachment = this.#deps.pods.attachments().get(attachmentId(event.payload));
    const second = attachment && this.#extend(txn, attachment);
    if (!second) return {};
    const reply: AddPodReply = {
      interfaces: [
        {
          name: second.linux.host_if_name,
          mac: second.linux.phys_address,
          sandbox: event.payload.networkNamespace,
          addresses: [{ family: 4, address: `${second.address}/32`, gateway: this.#gateway }],
        },
      ],
    };
    return { change: `second interface of ${podIdText(event.payload.pod)}`, reply };
  }

  get #gateway(): string {
    return `${this.#options.network}.0.1`;
  }

  /** Undefined if the pod is not wired with IPv4. */
  #extend(txn: Transaction, attachment: Attachment) {
    const id = attachmentId(attachment);
    const first = this.#firstOf(txn, id);
    if (!first) return undefined;
    const { mtu } = this.#options;
    const second = this.#secondOf(first);
    // this handler comes after ipv4net, so its values of the first interface replace those of ipv4net
    const values = [
      keyValue(vppInterfaceModel, { ...first.vpp, mtu }),
      keyValue(linuxInterfaceModel, { ...first.linux, mtu }),
      ...this.#valuesOf(second),
    ];
    txn.replace(groupOf(id), values, { evenUnchanged: true });
    return second;
  }

  #firstOf(txn: Transaction, id: AttachmentId): Link | undefined {
    const names = this.#deps.net.podInterfaces(id);
    const [address] = this.#deps.ipam.podAddresses(id);
    if (!names || address === undefined || address.includes(':')) return undefined;
    const vpp = txn.get<VppInterface>(vppInterfaceKey.build({ name: names.vpp }));
    const linux = txn.get<LinuxInterface>(linuxInterfaceKey.build({ name: names.linux }));
    return vpp && linux && { vpp, linux, address };
  }

  /** As the first, with names and addresses of its own. A TAP, whatever the first one is. */
  #secondOf({ vpp, linux, address }: Link): Link {
    const { afpacket: _, tap = { version: 2 }, ...like } = vpp;
    const { veth: __, ...linuxLike } = linux;
    const { mtu } = this.#options;
    const own = `${this.#options.network}.${address.split('.').slice(2).join('.')}`;
    const vppName = secondName(vpp.name);
    return {
      address: own,
      vpp: vppInterfaceModel.canonical({
        ...like,
        name: vppName,
        type: 'TAP',
        tap,
        mtu,
        phys_address: secondMac(vpp.phys_address),
      }),
      linux: linuxInterfaceModel.canonical({
        ...linuxLike,
        name: secondName(linux.name),
        type: 'TAP_TO_VPP',
        tap: { vpp_tap_if_name: vppName },
        host_if_name: secondName(linux.host_if_name).slice(0, LINK_NAME_LENGTH),
        mtu,
        phys_address: secondMac(linux.phys_address),
        ip_addresses: [`${own}/32`],
      }),
    };
  }

  /** The two ends, the way of the pod to the second network, and the way of VPP to the pod. */
  #valuesOf({ vpp, linux, address }: Link): KeyValue[] {
    const gateway = this.#gateway;
    return [
      keyValue(vppInterfaceModel, vpp),
      keyValue(linuxInterfaceModel, linux),
      keyValue(linuxArpModel, {
        interface: linux.name,
        ip_address: gateway,
        hw_address: vpp.phys_address,
      }),
      keyValue(linuxRouteModel, {
        outgoing_interface: linux.name,
        scope: 'LINK',
        dst_network: `${gateway}/32`,
      }),
      keyValue(linuxRouteModel, {
        outgoing_interface: linux.name,
        scope: 'GLOBAL',
        dst_network: `${this.#options.network}.0.0/16`,
        gw_addr: gateway,
      }),
      keyValue(vppArpModel, {
        interface: vpp.name,
        ip_address: address,
        phys_address: linux.phys_address,
        static: true,
      }),
      keyValue(vppRouteModel, {
        vrf_id: vpp.vrf,
        dst_network: `${address}/32`,
        next_hop_addr: address,
        outgoing_interface: vpp.name,
      }),
    ];
  }
}

/** The values of this plugin for a pod. */
function groupOf(id: AttachmentId): string {
  return `pod/${id}`;
}

function secondName(name: string): string {
  return `2-${name}`;
}

/** As unlike that of the first one as that one is unlike all others: by one bit of the first byte. */
function secondMac(mac: string): string {
  const first = Number.parseInt(mac.slice(0, 2), 16) ^ 0x04;
  return first.toString(16).padStart(2, '0') + mac.slice(2);
}
