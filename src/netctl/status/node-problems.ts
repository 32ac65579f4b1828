/** The problems of a node, from the documents of its agent. */
import type { NodeDocument } from '#documents/nodes.ts';
import type { ProbeDocument } from '#documents/probes.ts';
import type { RequestFailure } from '../requests/request-failure.ts';
import { ageText } from './age.ts';
import { components, STARTING_REMEDY, unknownComponent } from './components.ts';

export interface NodeProblem {
  readonly component: string;
  /** `error`: the node is not ready because of it. */
  readonly severity: 'error' | 'warning';
  readonly text: string;
  /** Of the error in docs/errors.md. */
  readonly code: string | undefined;
  readonly remedy: string;
  /** Seconds since 1970, by the clock of the node. */
  readonly since: number | undefined;
}

/** Numbers of the states in the document; the encoder of the agent leaves out zeros. */
const STARTING = 0;
const OK = 1;

/** Names what is not a component: the way to another node. */
const LINK = 'link';
const CLOCK = 'clock';
const ACCESS = 'access';

export function probeProblems({ PluginStatus }: ProbeDocument): NodeProblem[] {
  return Object.entries(PluginStatus).flatMap(([component, { state, error, last_change }]) => {
    if (state === OK) return [];
    const { fails, remedy } = components[component] ?? unknownComponent;
    const severity = fails === 'nothing' ? 'warning' : 'error';
    const known = { component, since: last_change } as const;
    if ((state ?? STARTING) === STARTING)
      return [
        {
          ...known,
          severity: 'warning',
          text: 'has not started yet',
          code: undefined,
          remedy: STARTING_REMEDY,
        } as const,
      ];
    return reportedProblems(error ?? '').map((one) => ({
      ...known,
      severity,
      text: one.text || 'is in error',
      code: one.code,
      remedy: one.remedy ?? remedy,
    }));
  });
}

/** Of an agent that answers its probes, and nothing else without credentials. */
export function accessProblems(refusals: readonly RequestFailure[]): NodeProblem[] {
  return refusals.slice(0, 1).map(({ text, remedy }) => ({
    component: ACCESS,
    severity: 'warning',
    text: `only probes are answered: ${text}`,
    code: undefined,
    remedy,
    since: undefined,
  }));
}

/** Half of it passes between a request and its answer, when all is well. */
const CLOCK_LIMIT_S = 30;

/**
 * @param now Unix seconds by the clock of the node, when it answered; undefined: an agent that is too old to tell
 * @param own the same by that of netctl
 */
export function clockProblems(now: number | undefined, own: number): NodeProblem[] {
  const ahead = now === undefined ? 0 : Math.round(now - own);
  if (Math.abs(ahead) <= CLOCK_LIMIT_S) return [];
  return [
    {
      component: CLOCK,
      severity: 'warning',
      text: `the clock is ${ageText(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'} that of this machine: certificates, tokens and the order of events depend on it`,
      code: undefined,
      remedy:
        'Compare date on both machines, and let NTP set the wrong one (timedatectl, chronyc tracking).',
      since: undefined,
    } as const,
  ];
}

/** How a node reaches another one. */
export interface LinkState {
  readonly name: string;
  readonly link: Pick<NonNullable<NodeDocument['link']>, 'whyUnreachable'> | null;
}

/** Nodes that this one cannot reach. */
export function linkProblems(nodes: readonly LinkState[]): NodeProblem[] {
  return nodes.flatMap(({ name, link }) => {
    const why = link?.whyUnreachable ?? '';
    if (why === '') return [];
    return [
      {
        component: LINK,
        severity: 'error',
        text: `node ${name} cannot be reached: ${why}`,
        code: undefined,
        remedy: `kubectl get node ${name} -o wide shows whether it has an address; netctl status, whether its agent answers.`,
        since: undefined,
      } as const,
    ];
  });
}

interface ReportedProblem {
  readonly text: string;
  readonly code?: string;
  readonly remedy?: string;
}

/** A text of the agent has one problem after the other, with `[code]: remedy` of those that have a code. */
export function reportedProblems(text: string): readonly ReportedProblem[] {
  const problems: ReportedProblem[] = [];
  let rest = text;
  for (;;) {
    // Remedies are sentences: the first period at a separator ends one.
    const [all, its, code, remedy] = /^(.+?) \[(CV_\w+)\]: (.+?\.)(?:; |$)/s.exec(rest) ?? [];
    if (all === undefined) break;
    problems.push({ text: its!, code: code!, remedy: remedy! });
    rest = rest.slice(all.length);
  }
  return rest === '' && problems.length > 0 ? problems : [...problems, { text: rest }];
}
