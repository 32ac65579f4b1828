/** The text on the terminal when the demonstration has started. */
import type { StartedNode } from './demonstration.ts';
import type { PodAttachment } from './fake-kubelet.ts';
import type { TourStop } from './tour.ts';

/** Pods that could not be attached. */
const SHOWN_FAILURES = 5;

export interface SummaryInput {
  readonly nodes: readonly StartedNode[];
  /** Number of manifests that were ignored. */
  readonly ignored: number;
  /** Empty: the manifests are not those of the shop. */
  readonly tour: readonly TourStop[];
  /** undefined: the log is on the standard output. */
  readonly logFile: string | undefined;
}

/** Fits on a small terminal, below the lines of npm. */
export function summaryText(input: SummaryInput): string {
  const { nodes, ignored, logFile } = input;
  const [first, ...others] = nodes;
  if (first === undefined) return '';
  const isAlone = others.length === 0;
  return [
    '',
    ...(isAlone ? nodeLines(first, ignored) : clusterLines(input)),
    '',
    ...(logFile === undefined ? [] : [`The log is ${logFile}.`]),
    isAlone
      ? 'The agent keeps running; Ctrl-C stops it.'
      : 'The agents keep running; Ctrl-C stops them.',
    '',
  ].join('\n');
}

function nodeLines({ name, port, pods }: StartedNode, ignored: number): string[] {
  const url = urlOf(port);
  return [
    `Node ${name}: ${attachedText(pods, ignored)}`,
    ...failureLines(pods),
    '',
    `  ${url}/ui/                        the state of the node, live, in a browser`,
    `  ${url}/controller/event-history   events, one record each`,
    `  ${url}/scheduler/status           values in VPP and Linux, and their state`,
    `  ${url}/scheduler/graph            the same as a graph`,
    `  ${url}/readiness                  state of the agent`,
    `  ${url}/metrics                    metrics for Prometheus`,
    '',
    '  npm run -s netctl pods                   the pods and their addresses',
    '  npm run -s netctl policies               what network policies permit',
    '  npm run -s netctl -- --help              all commands',
  ];
}

function clusterLines({ nodes, ignored, tour }: SummaryInput): string[] {
  const all = nodes.flatMap(({ pods }) => pods);
  return [
    `${nodes.length} nodes: ${attachedText(all, ignored)}`,
    ...failureLines(all),
    '',
    `  ${'NODE'.padEnd(10)} ${'PODS'.padEnd(4)}  ${'PAGE'.padEnd(27)}  REST`,
    ...nodes.map(({ name, port, pods }) => {
      const page = `${urlOf(port)}/ui/`;
      const count = String(attached(pods).length);
      return `  ${name.padEnd(10)} ${count.padEnd(4)}  ${page.padEnd(27)}  ${urlOf(port)}/`;
    }),
    ...(tour.length === 0 ? [] : ['', 'In another terminal:']),
    ...tour.flatMap(({ command, shows }) => [`  # ${shows}`, `  ${command}`]),
  ];
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function attached(pods: readonly PodAttachment[]): readonly PodAttachment[] {
  return pods.filter(({ error }) => error === undefined);
}

function attachedText(pods: readonly PodAttachment[], ignored: number): string {
  const text = `${attached(pods).length} of ${pods.length} pods attached`;
  return ignored > 0 ? `${text}, ${ignored} manifests ignored (see above)` : text;
}

function failureLines(pods: readonly PodAttachment[]): string[] {
  const failed = pods.filter(({ error }) => error !== undefined);
  return [
    ...failed.slice(0, SHOWN_FAILURES).map(({ name, error }) => `  ${name}: ${error}`),
    ...(failed.length > SHOWN_FAILURES ? [`  and ${failed.length - SHOWN_FAILURES} more`] : []),
  ];
}
