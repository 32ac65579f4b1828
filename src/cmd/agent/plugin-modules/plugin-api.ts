/**
 * The package `contiv-vswitch`: what plugins without a fork are written with (docs/plugins.md). What is exported here
 * follows semantic versioning, from the events and models to what a `PluginHost` gives; other modules of this project do not.
 */

export { CodedError, defineError } from '#infra/errors/errors.ts';
export { CacheHelper } from '#infra/idxmap/cache.ts';
export { IndexMap, type NamedMapping } from '#infra/idxmap/idxmap.ts';
export type { Logger } from '#infra/log/log.ts';
export { Tracer } from '#infra/log/tracer.ts';
export { linuxArpModel } from '#models/linux/arp.ts';
export {
  type LinuxInterface,
  linuxInterfaceKey,
  linuxInterfaceModel,
} from '#models/linux/interface.ts';
export { linuxRouteModel } from '#models/linux/route.ts';
export { type Acl, aclModel } from '#models/vpp/acl.ts';
export { vppArpModel } from '#models/vpp/arp.ts';
export { type VppInterface, vppInterfaceKey, vppInterfaceModel } from '#models/vpp/interface.ts';
export { vppRouteModel } from '#models/vpp/route.ts';
export {
  Direction,
  defineEvent,
  type Event,
  EventMethod,
  TransactionType,
} from '#plugins/controller/api/event.ts';
export type {
  EventHandler,
  EventLoop,
  KubeState,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
export { DbResync, KubeStateChange } from '#plugins/controller/api/events.ts';
export { HandlerState } from '#plugins/controller/api/handler-state.ts';
export { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
export type { ReplaceOptions, Transaction } from '#plugins/controller/api/transaction.ts';
export { NodeUpdate } from '#plugins/nodesync/api.ts';
export {
  AddPod,
  type AddPodReply,
  type Attachment,
  type AttachmentId,
  attachmentId,
  DeletePod,
  type PodId,
  podIdText,
} from '#plugins/podmanager/api.ts';
export type { MakePlugin, PluginHost } from './plugin-host.ts';
