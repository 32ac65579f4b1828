/** The differences from kube-proxy that docs/services.md lists, with their reasons. */
import { readFileSync } from 'node:fs';
import type { AnswerText, Cell } from './matrix.ts';

const COLUMNS = 'service | client | address | kube-proxy | here | reason';

export interface Difference {
  /** The line of the document. */
  readonly text: string;
  readonly services: readonly string[];
  readonly clients: readonly string[];
  readonly addresses: readonly string[];
  readonly kubeProxy: string;
  readonly agent: string;
}

/** Both answers in one cell. */
export interface Compared {
  readonly cell: Cell;
  readonly kubeProxy: AnswerText;
  readonly agent: AnswerText;
  /** Each client stays with one of the backends. */
  readonly hasAffinity: boolean;
}

export function documentedDifferences(): Difference[] {
  const [, table = ''] = readFileSync('docs/services.md', 'utf8').split(`| ${COLUMNS} |\n`);
  const [, ...rows] = table.slice(0, table.indexOf('\n\n')).split('\n');
  return rows.map((text) => {
    const cells = text.split('|').map((cell) => cell.trim().replaceAll('`', ''));
    const [, services = '', clients = '', addresses = '', kubeProxy = '', agent = ''] = cells;
    const [all, both, each] = [services, clients, addresses].map((cell) => cell.split(', '));
    return { text, services: all!, clients: both!, addresses: each!, kubeProxy, agent };
  });
}

/** Sentences: cells whose difference is not documented, and documented ones that do not exist. */
export function faultsOf(
  compared: readonly Compared[],
  documented: readonly Difference[],
): string[] {
  const faults = documented
    .filter((difference) => !compared.some((one) => concerns(difference, one)))
    .map(({ text }) => `no such difference: ${text}`);
  for (const one of compared) {
    const own = documented.filter((difference) => concerns(difference, one));
    const isRight = own.every(({ agent }) => isOfKind(one.agent, agent));
    if (own.length !== (isEqual(one) ? 0 : 1) || !isRight)
      faults.push([cellText(one), ...own.map(({ text }) => text)].join('\ndocumented: '));
  }
  return faults;
}

/** Whether it says what the agent answers where kube-proxy gives this answer. */
function concerns(
  { services, clients, addresses, kubeProxy }: Difference,
  { cell: { client, question }, ...answers }: Compared,
): boolean {
  return (
    (services.includes('all') || services.includes(question.service)) &&
    clients.includes(client) &&
    addresses.includes(question.kind) &&
    isOfKind(answers.kubeProxy, kubeProxy)
  );
}

function isOfKind(answer: AnswerText, kind: string): boolean {
  return kindOf(answer) === (kind === 'other backends' ? 'backends' : kind);
}

function isEqual({ kubeProxy, agent, hasAffinity }: Compared): boolean {
  if (kubeProxy === agent) return true;
  return hasAffinity && kindOf(kubeProxy) === 'backends' && agent.split(' ').includes(kubeProxy);
}

function kindOf(answer: AnswerText): string {
  return answer === 'refused' || answer === 'no answer' ? answer : 'backends';
}

function cellText({ cell, kubeProxy, agent }: Compared): string {
  const { client, question } = cell;
  const { service, kind, target } = question;
  const address = `${kind} ${target.address} ${target.protocol} port ${target.port}`;
  return `${service}, ${client}, ${address}: kube-proxy: ${kubeProxy}; here: ${agent}`;
}
