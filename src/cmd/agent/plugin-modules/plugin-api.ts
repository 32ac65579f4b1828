/**
 * The package `contiv-vswitch`: what plugins without a fork are written with (docs/plugins.md). What is exported here
 * follows semantic versioning, from the events and models to what a `PluginHost` gives; other modules of this project do not.
 */

export type { Clock, Random, Timer } from '#infra/clock/clock.ts';
export { systemClock, systemRandom } from '#infra/clock/system.ts';
export { CodedError, defineError } from '#infra/errors/errors.ts';
export { CacheHelper, type CacheOptions, type CacheSource } from '#infra/idxmap/cache.ts';
export { type Channel, toChannel } from '#infra/idxmap/channel.ts';
export { IndexMap, type MappingEvent, type NamedMapping } from '#infra/idxmap/idxmap.ts';
export { type Logger, type NamedLogger, silentLogger } from '#infra/log/log.ts';
export { Loggers, type LogsConfig } from '#infra/log/loggers.ts';
export { Tracer } from '#infra/log/tracer.ts';
export type {
  IncomingMessage,
  MessageClient,
  OutgoingMessage,
  Stop,
} from '#infra/messaging/api.ts';
export { connectKafka } from '#infra/messaging/connect-kafka.ts';
export { type Connection, Multiplexer, type ValueMessage } from '#infra/messaging/multiplexer.ts';
export type { ManagedProcess } from '#infra/process-manager/managed-process.ts';
export { ProcessManager, type ProcessManagerDeps } from '#infra/process-manager/process-manager.ts';
export type { ProcessOptions } from '#infra/process-manager/process-options.ts';
export type { ProcessTemplate } from '#infra/process-manager/template.ts';
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
export { type InterfaceState, interfaceStateModel } from '#models/vpp/interface-state.ts';
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
