/** Starts an agent with a fake kubelet, and prints a summary. */
import type { Clock } from '#infra/clock/clock.ts';
import { problemText } from '#kubernetes/reflector/manifest-problem.ts';
import { FakeKubelet, type FakeKubeletDeps, type PodAttachment } from './fake-kubelet.ts';

const POLL_MS = 50;
const IDLE_POLLS = 5;
/** After ten seconds the summary is printed, even if events are still processed. */
const MAX_POLLS = 200;
/** Pods that could not be attached. */
const SHOWN_FAILURES = 5;

export interface DemonstratedAgent {
  /** Port of the REST server. */
  readonly port: number;
  readonly controller: { readonly isIdle: boolean; readonly eventCount: number };
  start(): Promise<void>;
}

export interface DemonstrationDeps extends FakeKubeletDeps {
  /** Of the CNI service. */
  readonly cniSocket: string;
  readonly clock: Clock;
  /** undefined: the log is on the standard output. */
  readonly logFile: string | undefined;
  readonly print: (text: string) => void;
}

/** The store is filled before the agent starts, so that its startup resync finds the cluster. */
export async function demonstrate(
  agent: DemonstratedAgent,
  { cniSocket, clock, logFile, print, ...deps }: DemonstrationDeps,
): Promise<void> {
  const kubelet = new FakeKubelet(deps);
  for (const problem of kubelet.problems) deps.log.warn(problemText(problem));
  await kubelet.fillStore();
  await agent.start();
  const pods = await kubelet.startPods(cniSocket);
  await untilIdle(agent.controller, clock);
  const attached = attachmentLines(deps.nodeName, pods, kubelet.problems.length);
  print(summary(attached, agent.port, logFile));
}

/** The fake kubelet's writes return as events; waits until no event has arrived for a moment. */
async function untilIdle(controller: DemonstratedAgent['controller'], clock: Clock): Promise<void> {
  let seen = -1;
  for (let poll = 0, idle = 0; poll < MAX_POLLS && idle < IDLE_POLLS; poll++) {
    await clock.sleep(POLL_MS);
    idle = controller.isIdle && controller.eventCount === seen ? idle + 1 : 0;
    seen = controller.eventCount;
  }
}

function attachmentLines(
  nodeName: string,
  pods: readonly PodAttachment[],
  ignored: number,
): string[] {
  const failed = pods.filter(({ error }) => error !== undefined);
  const attached = pods.length - failed.length;
  return [
    `Node ${nodeName}: ${attached} of ${pods.length} pods attached` +
      (ignored > 0 ? `, ${ignored} manifests ignored (see above)` : ''),
    ...failed.slice(0, SHOWN_FAILURES).map(({ name, error }) => `  ${name}: ${error}`),
    ...(failed.length > SHOWN_FAILURES ? [`  and ${failed.length - SHOWN_FAILURES} more`] : []),
  ];
}

/** Fits on a small terminal, below the lines of npm. */
function summary(attached: readonly string[], port: number, logFile: string | undefined): string {
  const url = `http://127.0.0.1:${port}`;
  return [
    '',
    ...attached,
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
    '',
    ...(logFile === undefined ? [] : [`The log is ${logFile}.`]),
    'The agent keeps running; Ctrl-C stops it.',
    '',
  ].join('\n');
}
