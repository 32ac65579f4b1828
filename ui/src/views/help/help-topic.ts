/** The parts of the documentation about a component or an error code. Pure: it knows only Markdown. */

export interface HelpTexts {
  readonly status: string;
  readonly errors: string;
  readonly troubleshooting: string;
  readonly runbooks: string;
}

export interface HelpTable {
  /** Page of the documentation. */
  readonly page: string;
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface HelpSection {
  readonly title: string;
  /** Items of its lists, and its paragraphs. */
  readonly steps: readonly string[];
}

export interface HelpTopic {
  readonly tables: readonly HelpTable[];
  readonly runbook: HelpSection | undefined;
}

/** Headings of runbooks.md by component. */
export const runbooks: Readonly<Record<string, string>> = {
  controller: 'CrashLoopBackOff',
  vpp: 'VPP has crashed',
  etcd: 'etcd was restored from a backup, or replaced',
  'local-store': 'The disk is full',
  'local-store-content': 'The disk is full',
  mirror: 'The disk is full',
  'mirror-content': 'The disk is full',
  'external-store': 'The disk is full',
  'external-store-content': 'The disk is full',
  'cni-configuration': 'A node is NotReady after a reboot',
  'node-config': 'A node is NotReady after a reboot',
  nodes: 'A node is replaced',
  link: 'Packets are lost between two nodes',
};

export function helpTopic(texts: HelpTexts, component: string, code: string): HelpTopic {
  const { status, errors, troubleshooting } = texts;
  const ofComponent = (row: readonly string[]): boolean =>
    component !== '' && (row[0] ?? '').includes(`\`${component}\``);
  const ofCode = (row: readonly string[]): boolean =>
    code !== '' && row.some((cell) => cell.includes(`\`${code}\``));
  const title = runbooks[component];
  return {
    tables: [
      ...tables('status.md', status).map((table) => filtered(table, ofComponent)),
      ...tables('errors.md', errors).map((table) => filtered(table, ofCode)),
      ...tables('troubleshooting.md', troubleshooting).map((table) =>
        filtered(table, (row) => ofCode(row) || (code === '' && ofComponent(row))),
      ),
    ].filter(({ rows }) => rows.length > 0),
    runbook: title === undefined ? undefined : section(texts.runbooks, title),
  };
}

function filtered(table: HelpTable, isWanted: (row: readonly string[]) => boolean): HelpTable {
  return { ...table, rows: table.rows.filter(isWanted) };
}

function tables(page: string, text: string): HelpTable[] {
  return [...text.matchAll(/^\|.*\|\n\| ?-.*\n((?:\|.*\|\n)*)/gm)].map(([all, body = '']) => ({
    page,
    titles: cells(all.split('\n')[0]!),
    rows: body.trim().split('\n').map(cells),
  }));
}

/** A pipe in a cell has a backslash before it. */
function cells(line: string): string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

export function section(text: string, title: string): HelpSection | undefined {
  const parts = text.split(/^## /m).map((part) => part.split('\n'));
  const found = parts.find(([heading]) => heading === title);
  if (!found) return undefined;
  const steps: string[] = [];
  let isNew = true;
  for (const line of found.slice(1)) {
    const [, item] = /^(?:\d+\.|-) +(.*)$/.exec(line) ?? [];
    if (item !== undefined) steps.push(item);
    else if (line.trim() === '') isNew = true;
    else if (isNew) steps.push(line.trim());
    else steps.push(`${steps.pop() ?? ''} ${line.trim()}`);
    isNew = line.trim() === '';
  }
  return { title, steps };
}

export interface Span {
  readonly text: string;
  readonly isCode: boolean;
}

/** A line as plain text and code; of a link its text is left. */
export function spans(line: string): Span[] {
  const text = line.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return text
    .split('`')
    .map((part, at) => ({ text: part, isCode: at % 2 === 1 }))
    .filter((span) => span.text !== '');
}
