const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `56 B`, `1.2 kB`, `34 MB`; empty for none. */
export function bytesText(bytes: number): string {
  if (bytes === 0) return '';
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
