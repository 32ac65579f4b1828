import type { HistoryEvent } from './agent.ts';

/**
 * Pod records of the agent, as `<namespace>/<name>`, from its event history: the last database resync
 * and the changes after it.
 */
export function podsInHistory(history: readonly HistoryEvent[]): ReadonlySet<string> {
  const start = history.findLastIndex(({ Name }) => Name === 'Database Resync');
  const pods = new Set<string>();
  for (const { Name, Description } of history.slice(Math.max(start, 0))) {
    const lines = Description.split('\n');
    if (Name === 'Database Resync') {
      const first = lines.findIndex((line) => /^\* \d+x pod$/.test(line)) + 1;
      if (first === 0) continue;
      for (const line of lines.slice(first)) {
        if (!line.startsWith('    - ')) break;
        pods.add(line.slice('    - '.length));
      }
    } else if (lines.includes('* resource: pod')) {
      const key = /^\* key: k8s\/pod\/(.+)\/namespace\/(.+)$/m.exec(Description);
      const pod = `${key?.[2]}/${key?.[1]}`;
      if (Description.endsWith('* new-value: <nil>')) pods.delete(pod);
      else pods.add(pod);
    }
  }
  return pods;
}
