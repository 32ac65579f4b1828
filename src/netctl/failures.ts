/** Nodes that do not answer, in tables and documents. */
import type { ClusterNode, CommandContext, NodeReply, TableRow } from './command.ts';

/** Whether a sentence may take the place of an empty table. */
export function isForPeople({ output }: Pick<CommandContext, 'output'>): boolean {
  return output.format === 'table' || output.format === 'wide';
}

export function failureRows(replies: readonly NodeReply<unknown>[]): TableRow[] {
  return replies.flatMap(({ node, failure }) =>
    failure === undefined ? [] : [noteRow(node, failure.text)],
  );
}

/** A row with the name of the node in the first column. */
export function noteRow({ name }: ClusterNode, note: string): TableRow {
  return { cells: [name], note, color: 'red' };
}

export interface FailureDocument {
  readonly node: string;
  readonly reason: string;
  readonly text: string;
  readonly remedy: string;
}

/** The list `failures` of a document: the nodes that have not answered. */
export function failuresOf(replies: readonly NodeReply<unknown>[]): readonly FailureDocument[] {
  return replies.flatMap(({ node, failure }) =>
    failure === undefined
      ? []
      : [{ node: node.name, reason: failure.reason, text: failure.text, remedy: failure.remedy }],
  );
}

/** A document without a result: a script gets valid JSON or YAML from nodes that do not answer, too. */
export function showFailures(
  context: CommandContext,
  replies: readonly NodeReply<unknown>[],
): void {
  if (!isForPeople(context)) context.output.document({ failures: failuresOf(replies) });
}

/** The first names, and the number of the others. */
export function shortList(names: readonly string[], most = 3): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
