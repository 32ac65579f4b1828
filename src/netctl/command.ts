/**
 * The contract of a command of netctl.
 *
 * A command is one file in `commands/` with one exported `Command`, listed in `commands.ts`. It is data
 * (name, arguments, options, texts of the help) and a function `run`. Help, completion and docs/netctl.md
 * are made from the data. The file imports no large module at its top level: `run` loads what it needs
 * with `await import(…)`, because every start of netctl loads all commands.
 *
 * `run` gets a `CommandContext` and uses nothing else of the process: no `process.stdout`, no `fetch`, no
 * timers. It returns the exit code. What it throws is printed with its remedy, and the exit code is
 * `ExitCode.Failure`.
 *
 * Rules for output:
 * - The result goes to `output`, exactly once per run (streams excepted): `output.list` for tables, which
 *   prints the document instead with `-o json` and `-o yaml`; `output.document` for one object;
 *   `output.text` for text of people, `output.prose` for their sentences. All of them escape control
 *   characters: names and texts from the cluster cannot move the cursor of the terminal.
 * - Progress and warnings go to the standard error: `progress`, `warn`.
 * - A node that does not answer never stops the others: `askAll` returns one `NodeReply` per node. Show its
 *   failure where the row of the node would be (`note` of `TableRow`), put it into the document
 *   (`failures`), and call `explainFailures`, which prints once what to do.
 */
import type { TSchema } from 'typebox';
import type { DocumentOf } from '#documents/document.ts';
import type { Clock } from '#infra/clock/clock.ts';
import type { BuildInfo } from '#infra/status/status.ts';
import type { KubernetesApi } from './nodes/kubernetes-api.ts';
import type { RequestFailure } from './requests/request-failure.ts';

/** Documented in docs/netctl.md: scripts rely on the numbers. */
export const ExitCode = {
  /** Every node that was asked has answered. */
  Success: 0,
  /** No node has answered, an argument is invalid, or the user has ended the command. */
  Failure: 1,
  /** Some nodes have answered and some have not; the output has those that have. */
  Partial: 2,
  /** The answer is complete and is "no": not delivered, not permitted, differences or problems found. */
  Negative: 3,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

export interface Command {
  /** The word after `netctl`. */
  readonly name: string;
  /** One line of the help, in the imperative, without a period. */
  readonly summary: string;
  /** In order; a variadic argument is the last one. */
  readonly arguments: readonly CommandArgument[];
  readonly options: readonly CommandOption[];
  /** Complete command lines without `netctl`. */
  readonly examples: readonly string[];
  /** Words after the arguments belong to the last argument, also those that begin with a dash. */
  readonly passesOptionsOn?: boolean;
  run(context: CommandContext, input: CommandInput): Promise<ExitCode>;
}

export interface CommandArgument {
  readonly name: string;
  readonly description: string;
  readonly isOptional?: boolean;
  readonly isVariadic?: boolean;
  /** The words that shell completion offers. */
  readonly completes?: 'nodes' | 'pods' | 'descriptors' | readonly string[];
}

export interface CommandOption {
  /** Long name without dashes, also the key in `CommandInput.options`. */
  readonly name: string;
  /** One letter, which no global option has. */
  readonly short?: string;
  /** Name of the value in the help; undefined: a switch. */
  readonly value?: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly completes?: 'nodes' | 'pods' | 'files';
}

export interface CommandInput {
  /** By name; the words of a variadic argument in order. */
  readonly arguments: Readonly<Record<string, readonly string[]>>;
  /** By name of the option; `true` for a switch. Only what the command line has. */
  readonly options: Readonly<Record<string, string | true | undefined>>;
}

/** A node of the cluster. Its texts are from the cluster: print them with `output` only. */
export interface ClusterNode {
  readonly name: string;
  /** How the command line calls a node whose agent has to be asked for its name. */
  readonly given?: string;
  /** undefined: not known to the source, such as with `--server`. */
  readonly id: number | undefined;
  /** Address of the REST server, without port; undefined: not known. */
  readonly host: string | undefined;
  /** Port of the REST server, when it is not the configured one. */
  readonly port?: number;
  /** Unix socket of its agent, which is asked instead of the port: it needs no credentials. */
  readonly socket?: string;
  /** Address of VPP without prefix length; undefined: not known. */
  readonly vppAddress: string | undefined;
}

/** A pod as Kubernetes sees it. */
export interface ClusterPod {
  readonly namespace: string;
  readonly name: string;
  /** undefined: none yet. */
  readonly address: string | undefined;
  /** Those of its second family. */
  readonly furtherAddresses?: readonly string[];
  /** Address of the node that runs it; undefined: not scheduled. */
  readonly hostAddress: string | undefined;
}

export type NodeReply<T> = { readonly node: ClusterNode } & (
  | { readonly value: T; readonly failure?: never }
  | { readonly failure: RequestFailure; readonly value?: never }
);

export interface CommandContext {
  /**
   * The nodes with these names or addresses, sorted by name; all nodes without an argument. An address
   * that no source knows is asked as it is.
   * @throws UnknownNodeError, NodeSourceError (with every source that was tried)
   */
  nodes(selectors?: readonly string[]): Promise<readonly ClusterNode[]>;
  /**
   * All pods of the cluster, from the source of the nodes; undefined when it knows none (`--server` and
   * the unix socket): ask the nodes instead.
   */
  pods(): Promise<readonly ClusterPod[] | undefined>;
  /** The API server, when the nodes are known from it; else undefined. */
  kubernetes(): Promise<KubernetesApi | undefined>;
  /**
   * The document of a path such as `contiv/v1/ipam`, in the form of its schema.
   * @param repliesWith statuses besides those of success that come with the document
   * @throws RequestFailure
   */
  ask<S extends TSchema>(
    node: ClusterNode,
    path: string,
    schema: S,
    repliesWith?: readonly number[],
  ): Promise<DocumentOf<S>>;
  /** The text of a path. @throws RequestFailure */
  askText(node: ClusterNode, path: string): Promise<string>;
  /** Sends JSON; the document of the reply. @throws RequestFailure */
  post<S extends TSchema>(
    node: ClusterNode,
    path: string,
    body: unknown,
    schema: S,
  ): Promise<DocumentOf<S>>;
  /**
   * Server-sent events of a path until the node ends them or the user does.
   * @throws RequestFailure
   */
  events(node: ClusterNode, path: string): AsyncIterable<ServerSentEvent>;
  /**
   * The body of a path as it arrives, such as an archive or a log that grows.
   * @throws RequestFailure
   */
  download(node: ClusterNode, path: string): AsyncIterable<Uint8Array>;
  /**
   * The etcd of the command line, or of the variables, and how long it took to answer; undefined: none is named.
   * @throws CodedError when it does not answer
   */
  etcd(): Promise<{ readonly name: string; readonly tookMs: number } | undefined>;
  /** Runs `task` for all nodes, a limited number at once, with progress; replies in the order of `nodes`. */
  askAll<T>(
    nodes: readonly ClusterNode[],
    task: (node: ClusterNode) => Promise<T>,
  ): Promise<readonly NodeReply<T>[]>;
  /** Prints what to do about the failures, once per kind. Returns the exit code of the replies. */
  explainFailures(replies: readonly NodeReply<unknown>[]): ExitCode;
  /** Whether the user agrees; undefined: there is no terminal to ask on. */
  confirm(question: string): Promise<boolean | undefined>;
  /** Runs contiv-agent of this release on this machine, with its output. @returns its exit code */
  runAgent(args: readonly string[]): Promise<number>;
  /** Unix socket of the agent of this machine. */
  readonly localSocket: string;
  readonly output: Output;
  /** One line that replaces the one before on a terminal; nothing where the standard error is no terminal. */
  progress(text: string): void;
  /** A line on the standard error. */
  warn(text: string): void;
  readonly clock: Clock;
  /** Of netctl. */
  readonly build: BuildInfo;
  /** Aborted when the user ends the program: end streams and return. */
  readonly signal: AbortSignal;
}

export interface ServerSentEvent {
  /** `message` by default. */
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

export type OutputFormat = 'table' | 'wide' | 'json' | 'yaml';

export interface Output {
  readonly format: OutputFormat;
  /** The table with the formats `table` and `wide`, else the document. */
  list(table: Table, document: unknown): void;
  /** As YAML with the format `yaml`, else as JSON. */
  document(document: unknown): void;
  /** As it is but for control characters; a line end is added if there is none. */
  text(text: string): void;
  /** Part of a file, as it is. */
  bytes(bytes: Uint8Array): void;
  /** Sentences for people: lines that the terminal is too narrow for continue on the next, indented as they are. */
  prose(text: string): void;
  /** One line of a stream: text, or the document on one line with `-o json`, or after `---` with `-o yaml`. */
  event(text: string, document: unknown): void;
}

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly TableRow[];
}

export interface Column {
  /** Upper case, words joined by `-`: scripts find columns by it. */
  readonly title: string;
  /** Only with `-o wide`. */
  readonly isWide?: boolean;
  /** Numbers. */
  readonly isRightAligned?: boolean;
  /**
   * How cells fit into a terminal that is too narrow: `wrap` (default) continues on the next line,
   * `keep` never changes, but its title may continue on the next line, and a column with `drop` is left
   * out, except with `-o wide`. Nothing is changed when the output is no terminal.
   */
  readonly whenNarrow?: 'wrap' | 'keep' | 'drop';
}

export interface TableRow {
  /** One per column, wide ones too. An empty cell is printed as nothing. */
  readonly cells: readonly string[];
  /** Takes the place of the columns without a cell: why they are not known. */
  readonly note?: string;
  /** Color of the row on a terminal with colors. */
  readonly color?: 'red' | 'yellow' | 'green';
}
