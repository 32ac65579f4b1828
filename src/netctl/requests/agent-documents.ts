/**
 * How documents of agents are distinguished from those of another program on the port. Only fields that agents of all
 * versions have, each of which may be left out when it is empty.
 */
import { fieldsOf } from '../document-fields.ts';

type Check = (document: unknown) => boolean;

/** The encoder of the original writes what is empty as null. */
const isList: Check = (document) => Array.isArray(document) || document === null;

const isText: Check = (document) => typeof document === 'string';

const hasOneOf =
  (...names: readonly string[]): Check =>
  (document) =>
    names.some((name) => Object.hasOwn(fieldsOf(document), name));

const hasObjects: Check = (document) =>
  document === null ||
  (document === fieldsOf(document) &&
    Object.values(document).every((one) => typeof one === 'object'));

/** By path; the first that matches. */
const checks: readonly (readonly [RegExp, Check])[] = [
  [/^liveness$/, hasOneOf('state', 'start_time', 'build_version', 'PluginStatus')],
  [/^contiv\/v1\/ipam$/, hasOneOf('nodeId', 'nodeName', 'nodeIP')],
  [/^contiv\/v1\/ipam\/allocations$/, hasOneOf('Pods')],
  [/^contiv\/v1\/services$/, isList],
  [/^contiv\/v1\/services\//, hasOneOf('name')],
  [/^contiv\/v1\/policy\/pods$/, isList],
  [/^contiv\/v1\/policy\/pods\//, hasOneOf('attachments')],
  [/^contiv\/v1\/policy\/connectivity\?/, hasOneOf('verdict')],
  [/^contiv\/v1\/policy\/plan$/, hasOneOf('changes', 'operations')],
  [/^dump\/vpp\/v2\/interfaces$/, hasObjects],
  [/^scheduler\/drift$/, hasOneOf('Differences')],
  [/^scheduler\/dump$/, hasOneOf('Descriptors')],
  [/^scheduler\/dump\?/, isList],
  [/^trace\/node\?/, hasOneOf('values')],
  [/^vpp\/command$/, isText],
  [/^vpp\/telemetry$/, isList],
];

/** Whether an agent may have sent the document of the path. */
export function isOfAgent(path: string, document: unknown): boolean {
  const [, check] = checks.find(([pattern]) => pattern.test(path)) ?? [];
  return check === undefined || check(document);
}
