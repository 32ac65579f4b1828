/** A walk as lines for a terminal. */
import type { PacketTrace } from './tracer.ts';

/** One line a hop, each device named where the packet enters it. */
export function traceText({ hops }: PacketTrace): string {
  let device = '';
  const lines = hops.flatMap((hop) => {
    const heading = hop.device === device ? [] : [hop.device];
    device = hop.device;
    return [...heading, `  ${hop.description}`, ...(hop.key === '' ? [] : [`      ${hop.key}`])];
  });
  return `${lines.join('\n')}\n`;
}
