/** Rough size of a value in memory, in bytes: the unit of the history's limit. */
export function roughSize(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return 16 + value.length;
    case 'object':
      if (value === null) return 8;
      if (value instanceof Uint8Array) return 32 + value.length;
      return sizeOfFields(value);
    default:
      return 8;
  }
}

function sizeOfFields(value: object): number {
  let size = 32;
  if (Array.isArray(value)) for (const item of value) size += 8 + roughSize(item);
  else for (const name in value) size += 8 + roughSize((value as Record<string, unknown>)[name]);
  return size;
}
