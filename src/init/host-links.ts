import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = '/sys/class/net';

/** Names of the host's links by their index, as Linux lists them. */
export function hostLinks(): string[] {
  const links = readdirSync(FOLDER).flatMap((name) => {
    const index = indexOf(name);
    return index === undefined ? [] : [{ name, index }];
  });
  return links.sort((a, b) => a.index - b.index).map(({ name }) => name);
}

/** undefined: it was deleted meanwhile, or is not a link, as bonding_masters. */
function indexOf(name: string): number | undefined {
  try {
    return Number(readFileSync(join(FOLDER, name, 'ifindex'), 'utf8'));
  } catch {
    return undefined;
  }
}
