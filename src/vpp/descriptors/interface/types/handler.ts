import type { Dependency, OperationContext } from '#kvscheduler/api/descriptor.ts';
import type { VppInterface } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { VppClient } from '../../../binapi/api.ts';
import type { SwInterfaceDetails } from '../../../binapi/messages.gen.ts';
import type { TapLinks, VppDescriptorOptions } from '../../options.ts';

/** Dependencies of some types to create an interface. */
export type CreationNeeds = Pick<VppDescriptorOptions, 'namespaces' | 'wireguardKeys'>;

/** Result of the message that creates an interface. */
export interface CreatedInterface {
  readonly swIfIndex: number;
  /** As in the metadata. */
  readonly hostIfName?: string;
  readonly hostNamespace?: string;
}

/** The fields of an interface that its type adds. */
export type TypeFields = Partial<VppInterface>;

/** One interface as the dump of its type returns it. */
export interface FoundInterface {
  readonly swIfIndex: number;
  /** The link fields as far as VPP stores them. */
  readonly fields: TypeFields;
  /** As `InterfaceTypeHandler.identity` computes it from a value. */
  readonly identity: string | undefined;
  readonly hostIfName?: string;
  readonly hostNamespace?: string;
}

/** Information for a handler that reads back interfaces. */
export interface TypeRetrieveContext {
  readonly details: readonly SwInterfaceDetails[];
  /** Of the interfaces in `details`, as dumps take them; `NONE` is all. */
  readonly indexes: readonly number[];
  /** Name in the kernel of a configured Linux interface; undefined while it does not exist. */
  linuxHostName(logicalName: string): string | undefined;
  /** Logical name of an interface, or VPP's name for it if it has none. */
  nameOf(swIfIndex: number): string | undefined;
}

/** VPP's frame size of a new device, and its MTU of layer 3. A device without Ethernet has none. */
export const DEFAULT_MTU = 9000;

/** The behavior that is particular to one type of interface. */
export interface InterfaceTypeHandler {
  readonly type: VppInterface['type'];
  /** Set by: `create`, the create message; `message`, a separate message; `never`, not by the agent. */
  readonly mac: 'create' | 'message' | 'never';
  /**
   * `software`: the MTU of layer 3, initially `DEFAULT_MTU`; `linked`: the MTU of layer 3, initially that of
   * the link in the kernel; `inherited`: the MTU of layer 3, initially none; `hardware`: the frame size of
   * the device. On an AF_PACKET interface the frame size would also change the link in the kernel.
   */
  readonly mtu: 'software' | 'linked' | 'inherited' | 'hardware';
  /** Whether it is up as soon as it is created. */
  readonly startsUp: boolean;
  /** Whether it must be set down before it is deleted. */
  readonly downOnDelete: boolean;
  /** It has queues only while its link is up, and different ones each time. */
  readonly hasDynamicQueues?: true;
  /** Whether VPP accepts an identity only once. */
  readonly hasUniqueIdentity: boolean;
  /** Throws InvalidValueError. */
  validate(key: string, value: VppInterface): void;
  dependencies(value: VppInterface): readonly Dependency[];
  /** Link settings with all defaults; a change of these is a delete and a create. */
  settings(value: VppInterface): object;
  /**
   * Identifies an interface whose creator crashed before tagging it; undefined if the type has no such
   * identity.
   */
  identity(value: VppInterface): string | undefined;
  create(
    client: VppClient,
    value: VppInterface,
    ctx: OperationContext,
    needs: CreationNeeds,
  ): Promise<CreatedInterface>;
  /** Requests besides tag, MAC, MTU and state; sent together with these. */
  configure?(
    client: VppClient,
    value: VppInterface,
    swIfIndex: number,
  ): readonly Promise<unknown>[];
  delete(
    client: VppClient,
    value: VppInterface,
    metadata: VppInterfaceMetadata,
    tapLinks: TapLinks | undefined,
  ): Promise<void>;
  /** Reads at least the interfaces of the type that are in `details`; none if VPP lacks the plugin. */
  dump(client: VppClient, ctx: TypeRetrieveContext): Promise<readonly FoundInterface[]>;
  /** The fields that were found, in the spelling of the desired value where both are equivalent. */
  adopt(found: FoundInterface, desired: VppInterface, ctx: TypeRetrieveContext): TypeFields;
}
