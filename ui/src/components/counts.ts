/** Numbers of things as text: `10,000 operations`, `1 event`. */

export function numberText(count: number): string {
  return count.toLocaleString('en-US');
}

export function countText(count: number, singular: string): string {
  return `${numberText(count)} ${singular}${count === 1 ? '' : 's'}`;
}
