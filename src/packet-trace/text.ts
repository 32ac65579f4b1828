/** A walk as lines for a terminal. */
import type { Walk } from './walk.ts';

/** One line a hop, each device named where the packet enters it. */
export function walkText({ hops }: Walk): string {
  let device = '';
  const lines = hops.flatMap((hop) => {
    const heading = hop.device === device ? [] : [hop.device];
    device = hop.device;
    return [...heading, `  ${hop.what}`, ...(hop.by === '' ? [] : [`      ${hop.by}`])];
  });
  return `${lines.join('\n')}\n`;
}
