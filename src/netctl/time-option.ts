const units: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3_600e3, d: 86_400e3 };

/**
 * A time of the command line: RFC 3339, or how long ago it was, such as 10m, 2h, 1d.
 * @param now milliseconds since 1970
 * @returns undefined: the text is neither
 */
export function timeOfOption(text: string, now: number): string | undefined {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  // Agents know no time before 1970.
  if (count !== undefined)
    return new Date(Math.max(0, now - Number(count) * units[unit]!)).toISOString();
  return /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
}
