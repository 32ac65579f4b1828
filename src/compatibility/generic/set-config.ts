/** SetConfig: values of gRPC clients as items of ligato's generic services. */
import { status } from '@grpc/grpc-js';
import { errorText } from '#infra/errors/errors.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type {
  Item,
  SetConfigRequest,
  SetConfigResponse,
  UpdateResult,
} from '#models/generic/generic.gen.ts';
import { isIncompleteKey } from '#models/key-template.ts';
import type { DeepInput } from '#models/model.ts';
import { type ConfigModel, modelOfType } from '#models/registry.ts';
import { modelNamed } from './model-details.ts';
import { CallError } from './unary-handler.ts';

export interface WrittenItem {
  /** For messages. */
  readonly name: string;
  readonly key: string;
  readonly value: object;
}

/** The external configuration of gRPC clients. The errors are those of values that failed, by key. */
export interface ConfigSink {
  put(items: readonly WrittenItem[], signal: AbortSignal): Promise<ReadonlyMap<string, Error>>;
  delete(
    items: readonly Pick<WrittenItem, 'key'>[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Error>>;
  resync(
    items: readonly WrittenItem[],
    keepsOthers: boolean,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Error>>;
}

/**
 * Nothing is applied if one item cannot be read. Deletions precede updates, as a change of their own.
 * @throws CallError; what the sink throws
 */
export async function setConfig(
  { updates, overwrite_all }: SetConfigRequest,
  sink: ConfigSink,
  scheduler: Scheduler,
): Promise<DeepInput<SetConfigResponse>> {
  // also when the client disconnects, the request is completed
  const { signal } = new AbortController();
  const written: WrittenItem[] = [];
  const deleted: string[] = [];
  for (const { item } of updates) {
    if (item?.data?.any) written.push(readItem(item));
    else deleted.push(keyOf(item));
  }
  const failures = new Map<string, Error>();
  const collect = (found: ReadonlyMap<string, Error>) => {
    for (const [key, error] of found) failures.set(key, error);
  };
  if (overwrite_all) collect(await sink.resync(written, false, signal));
  else {
    if (deleted.length > 0)
      collect(
        await sink.delete(
          deleted.map((key) => ({ key })),
          signal,
        ),
      );
    if (written.length > 0) collect(await sink.put(written, signal));
  }
  const result = (key: string): DeepInput<UpdateResult> => {
    const { state, error, details } = scheduler.status(key).value;
    const message = failures.get(key)?.message ?? details?.join(', ') ?? error ?? '';
    return { key, status: { status: state, message } };
  };
  return { results: [...deleted, ...written.map(({ key }) => key)].map(result) };
}

function readItem({ data }: Item): WrittenItem {
  const { type_url, value: bytes } = data!.any!;
  const typeName = type_url.slice(type_url.lastIndexOf('/') + 1);
  const model = modelOfType(typeName);
  if (!model) throw new CallError(status.INVALID_ARGUMENT, `no model has the type ${typeName}`);
  const { value, unknownFields } = decode(model, bytes);
  const key = model.key(value);
  if (unknownFields.length > 0) {
    const text = `${key}: this agent does not have ${unknownFields.join(', ')} of ${typeName}`;
    throw new CallError(status.INVALID_ARGUMENT, text);
  }
  ensureComplete(key);
  return { name: key, key, value };
}

function decode(model: ConfigModel, bytes: string) {
  try {
    return model.decodeKnownWire(Buffer.from(bytes, 'base64'), model.typeName);
  } catch (thrown) {
    throw new CallError(status.INVALID_ARGUMENT, errorText(thrown));
  }
}

function ensureComplete(key: string): void {
  if (isIncompleteKey(key))
    throw new CallError(status.INVALID_ARGUMENT, `${key}: a field of the key is not set`);
}

function keyOf(item: Item | undefined): string {
  const model = modelNamed(item?.id?.model ?? '');
  if (!model)
    throw new CallError(
      status.INVALID_ARGUMENT,
      `an item without data needs the name of a model: "${item?.id?.model ?? ''}" is none`,
    );
  const key = model.keyPrefix + (item?.id?.name ?? '');
  ensureComplete(key);
  return key;
}
