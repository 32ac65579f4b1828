import type { Dependency, OperationContext } from '#kvscheduler/api/descriptor.ts';
import type { VppInterface } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { VppClient } from '../../../binapi/api.ts';
import type { SwInterfaceDetails } from '../../../binapi/messages.gen.ts';

/** What the message that makes an interface has already settled. */
export interface CreatedInterface {
  readonly swIfIndex: number;
  /** As in the metadata. */
  readonly hostIfName?: string;
}

/** The part of a configured interface that its kind brings. */
export type TypeFields = Partial<VppInterface>;

/** One interface as a kind's own dump shows it. */
export interface FoundInterface {
  readonly swIfIndex: number;
  /** The link part as far as VPP stores it. */
  readonly fields: TypeFields;
  /** As `InterfaceKind.identity` makes it of a value. */
  readonly identity: string | undefined;
  readonly hostIfName?: string;
}

/** What a kind may ask for while it reads back. */
export interface TypeRetrieveContext {
  readonly details: readonly SwInterfaceDetails[];
  /** Name in the kernel of a configured Linux interface; undefined while it is not there. */
  linuxHostName(logicalName: string): string | undefined;
  /** Logical name of an interface, or VPP's own where nobody named it. */
  nameOf(swIfIndex: number): string | undefined;
}

/** What is particular to one type of interface. */
export interface InterfaceTypeHandler {
  readonly type: VppInterface['type'];
  /** The create message sets the tag too: no crash can come in between. */
  readonly tagsOnCreate: boolean;
  /** `create`: with the create message; `message`: by one of its own; `never`: it is not ours. */
  readonly mac: 'create' | 'message' | 'never';
  /**
   * `software`: the MTU of layer 3, which starts as that of the device; `inherited`: one of layer 3
   * that starts as none; `hardware`: the frame size of the device. On an AF_PACKET interface that
   * would change the link in the kernel as well, and a loopback has none.
   */
  readonly mtu: 'software' | 'inherited' | 'hardware';
  /** Whether it is up as soon as it is made. */
  readonly startsUp: boolean;
  /** Whether it is to be taken down before it is deleted. */
  readonly downOnDelete: boolean;
  /** It has queues only while its link is up, other ones each time. */
  readonly hasDynamicQueues?: true;
  /** Whether VPP lets an identity exist only once. */
  readonly hasUniqueIdentity: boolean;
  /** Throws InvalidValueError. */
  validate(key: string, value: VppInterface): void;
  dependencies(value: VppInterface): readonly Dependency[];
  /** Link settings with all defaults; a change of these is a delete and a create. */
  settings(value: VppInterface): object;
  /**
   * By what an interface is found whose creator died before it was tagged, as text; undefined where
   * there is nothing.
   */
  identity(value: VppInterface): string | undefined;
  create(client: VppClient, value: VppInterface, ctx: OperationContext): Promise<CreatedInterface>;
  /** What it needs besides tag, MAC, MTU and state; started together with these. */
  configure?(
    client: VppClient,
    value: VppInterface,
    swIfIndex: number,
  ): readonly Promise<unknown>[];
  delete(client: VppClient, value: VppInterface, metadata: VppInterfaceMetadata): Promise<void>;
  /** Reads all interfaces of the kind; nothing where VPP lacks the plugin. */
  dump(client: VppClient, ctx: TypeRetrieveContext): Promise<readonly FoundInterface[]>;
  /** What was found, written as it was wanted where that means the same. */
  adopt(found: FoundInterface, wanted: VppInterface, ctx: TypeRetrieveContext): TypeFields;
}
