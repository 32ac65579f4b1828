/** `netctl test`: whether pods, services and policies work, by packets of pods of its own or by traces. */
import { type Command, type CommandContext, ExitCode, type Table } from '../command.ts';
import type { TestCase } from '../end-to-end/test-case.ts';
import { isForPeople } from '../failures.ts';

/** Each node gets five small pods. */
const MAX_NODES = 20;
/** Failures that are listed below the table; `-o wide` lists all cases. */
const MAX_LISTED = 10;

export const test: Command = {
  name: 'test',
  summary: 'Test pods, services and policies end to end',
  arguments: [
    {
      name: 'node',
      description: `nodes to test; default: all, at most ${MAX_NODES}`,
      isOptional: true,
      isVariadic: true,
      completes: 'nodes',
    },
  ],
  options: [
    {
      name: 'image',
      value: 'name',
      description: 'image of the pods, which has netctl (default: that of the agents)',
    },
  ],
  examples: ['test', 'test node1 node2', 'test --kubeconfig ~/.kube/config -o json'],
  async run(context, { arguments: given, options }) {
    const all = await context.nodes(given['node']);
    const nodes = all.slice(0, MAX_NODES);
    const kubernetes = await context.kubernetes();
    const { image } = options;
    let cases: readonly TestCase[];
    if (kubernetes !== undefined) {
      const { testCluster } = await import('../end-to-end/cluster-test.ts');
      const names = nodes.map(({ name }) => name);
      cases = await testCluster(context, {
        kubernetes,
        nodes: names,
        image: typeof image === 'string' ? image : undefined,
      });
    } else {
      const { testByTraces } = await import('../end-to-end/traced-test.ts');
      cases = await testByTraces(context, nodes);
    }
    const way = kubernetes === undefined ? 'traces' : 'packets';
    const omitted = all.length - nodes.length;
    return show(context, cases, way, omitted);
  },
};

function show(
  context: CommandContext,
  cases: readonly TestCase[],
  way: 'packets' | 'traces',
  omitted: number,
): ExitCode {
  const { output } = context;
  const failures = cases.filter(({ result }) => result === 'error');
  const summary = {
    by: way,
    passed: cases.filter(({ result }) => result === 'ok').length,
    failed: failures.length,
    skipped: cases.filter(({ result }) => result === 'skipped').length,
  };
  output.list(output.format === 'wide' ? tableOfCases(cases) : tableOfChecks(cases), {
    ...summary,
    nodesLeftOut: omitted,
    cases,
  });
  if (isForPeople(context)) {
    if (output.format !== 'wide') output.prose(failuresText(failures));
    if (omitted > 0) output.prose(`${omitted} nodes were left out: name them to test them.`);
    const how =
      way === 'packets'
        ? 'By packets of pods of its own, which are removed.'
        : 'By traces through the state of the nodes: without a Kubernetes API server (--kubeconfig) no packet was sent.';
    output.prose(`Passed: ${summary.passed}, failed: ${summary.failed}. ${how}`);
  }
  return failures.length > 0 ? ExitCode.Negative : ExitCode.Success;
}

function failuresText(failures: readonly TestCase[]): string {
  const byRemedy = Map.groupBy(failures.slice(0, MAX_LISTED), ({ remedy }) => remedy);
  const texts = [...byRemedy].map(([remedy, its]) => {
    const lines = its.map(({ check, from, to, found }) => {
      const ends = [from, to].filter((end) => end !== '').join(' to ');
      return `${check}, ${ends}: ${found}`;
    });
    return `\n${lines.join('\n')}\n  Do: ${remedy}`;
  });
  const more = failures.length - MAX_LISTED;
  return [...texts, more > 0 ? `${more} more: -o wide lists all.` : ''].join('\n');
}

function tableOfChecks(cases: readonly TestCase[]): Table {
  const byCheck = Map.groupBy(cases, ({ check }) => check);
  return {
    columns: [
      { title: 'CHECK', whenNarrow: 'keep' },
      { title: 'RESULT', whenNarrow: 'keep' },
      { title: 'PASSED', whenNarrow: 'keep', isRightAligned: true },
      { title: 'FOUND' },
    ],
    rows: [...byCheck].map(([check, its]) => {
      const ok = its.filter(({ result }) => result === 'ok').length;
      const isSkipped = its.every(({ result }) => result === 'skipped');
      const bad = its.find(({ result }) => result === 'error');
      const result = bad ? 'error' : isSkipped ? 'skipped' : 'ok';
      const found = bad?.found ?? its.at(-1)?.found ?? '';
      return {
        cells: [check, result, isSkipped ? '' : `${ok} of ${its.length}`, found],
        ...colorOf(result),
      };
    }),
  };
}

function tableOfCases(cases: readonly TestCase[]): Table {
  return {
    columns: ['CHECK', 'FROM', 'TO', 'RESULT', 'FOUND', 'DO'].map((title) => ({ title })),
    rows: cases.map(({ check, from, to, result, found, remedy }) => ({
      cells: [check, from, to, result, found, remedy],
      ...colorOf(result),
    })),
  };
}

function colorOf(result: TestCase['result']): { color?: 'red' } {
  return result === 'error' ? { color: 'red' } : {};
}
