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
    .filter((difference) => !compared.some((one) => isDifference(one, difference)))
    .map(({ text }) => `no such difference: ${text}`);
  for (const one of compared) {
    const own = documented.filter((difference) => isDifference(one, difference));
    if (isEqual(one) ? own.length > 0 : own.length !== 1)
      faults.push(`${cellText(one)}: ${own.length} differences are documented`);
  }
  return faults;
}

/** Whether the answers of a cell are those of a documented difference. */
function isDifference(
  { cell, kubeProxy, agent }: Compared,
  { services, clients, addresses, ...answers }: Difference,
): boolean {
  const { client, question } = cell;
  return (
    (services.includes('all') || services.includes(question.service)) &&
    clients.includes(client) &&
    addresses.includes(question.kind) &&
    answers.kubeProxy === kindOf(kubeProxy) &&
    (answers.agent === kindOf(agent) ||
      (answers.agent === 'other backends' && kindOf(agent) === 'backends'))
  );
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
