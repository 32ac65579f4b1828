import { type MessageCodec, type MessageType, messageCodec, type ProtoFile } from './message.ts';
import type { Model } from './model.ts';
import type { Rules } from './rules.ts';

export interface ModelDefinition<T extends object> {
  /** Message type, from the `.gen.ts` file. */
  readonly message: MessageType<T>;
  readonly keyPrefix: string;
  readonly key: (value: T) => string;
  /** Canonical spelling of texts and unordered lists, by field. */
  readonly rules?: Rules<T>;
}

/** A model that can also be sent over gRPC. */
export interface MessageModel<T extends object> extends Model<T>, MessageCodec<T> {
  /** protobufjs reflection of the message. */
  readonly reflection: MessageType<T>['reflection'];
  /** The file that declares the message. */
  readonly file: ProtoFile;
}

export function defineModel<T extends object>(spec: ModelDefinition<T>): MessageModel<T> {
  return {
    ...messageCodec(spec.message, spec.rules),
    keyPrefix: spec.keyPrefix,
    key: spec.key,
    reflection: spec.message.reflection,
    file: spec.message.file,
  };
}
