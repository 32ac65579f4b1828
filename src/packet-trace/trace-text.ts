/** Formats a packet trace for a terminal. */
import type { PacketTrace } from './tracer.ts';

/** One line per hop; the name of a device precedes its first hop. */
export function traceText({ hops }: PacketTrace): string {
  let device = '';
  const lines = hops.flatMap((hop) => {
    const heading = hop.device === device ? [] : [hop.device];
    device = hop.device;
    return [...heading, `  ${hop.description}`, ...(hop.key === '' ? [] : [`      ${hop.key}`])];
  });
  return `${lines.join('\n')}\n`;
}
