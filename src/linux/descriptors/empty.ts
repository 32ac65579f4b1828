/** The value of keys that say everything by themselves. */
export const EMPTY_TYPE = 'google.protobuf.Empty';

export const empty: object = Object.freeze({});
