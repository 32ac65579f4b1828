/** The value of keys that say everything by themselves. */
export const emptyType = 'google.protobuf.Empty';

export const empty: object = Object.freeze({});
