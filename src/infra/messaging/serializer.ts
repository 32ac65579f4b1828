/** Values of a connection: bytes, or messages of protobuf as JSON, as in the original. */

export interface Serializer<V> {
  encode(value: V): Uint8Array;
  /** @throws for bytes that are not a value */
  decode(bytes: Uint8Array): V;
}

export const bytesSerializer: Serializer<Uint8Array> = {
  encode: (value) => value,
  decode: (bytes) => bytes,
};

/** The JSON form of a type of messages; the codecs of models have it. */
export interface JsonCodec<V> {
  toJson(value: V): unknown;
  parse(input: unknown): V;
}

export function jsonSerializer<V>(codec: JsonCodec<V>): Serializer<V> {
  return {
    encode: (value) => Buffer.from(JSON.stringify(codec.toJson(value))),
    decode: (bytes) => codec.parse(JSON.parse(Buffer.from(bytes).toString())),
  };
}
