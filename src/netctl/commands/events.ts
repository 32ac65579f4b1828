/** `netctl events`: what the agents did and when, over all nodes in the order of time. */
import { defineError } from '#infra/errors/errors.ts';
import {
  type ClusterNode,
  type Command,
  type CommandContext,
  type CommandInput,
  ExitCode,
  type TableRow,
} from '../command.ts';
import {
  durationText,
  type EventFilter,
  eventText,
  isWanted,
  type ShownEvent,
  shownEvent,
  timeText,
} from '../event-line.ts';
import { failureRows, failuresOf, isForPeople } from '../failures.ts';
import { inForm } from '../requests/agent-document.ts';
import { followNode } from '../requests/follow-node.ts';
import { askItems, parseReply } from '../requests/item-stream.ts';
import { isUnknownRoute } from '../requests/missing.ts';
import { timeOfOption } from '../time-option.ts';

/** Without a filter. */
const DEFAULT_LAST = 50;
/** Of an agent that has no stream of events. */
const POLL_MS = 2_000;

export const events: Command = {
  name: 'events',
  summary: 'Show what the agents did: events with durations and failures',
  arguments: [
    {
      name: 'node',
      description: 'nodes to ask; default: all',
      isOptional: true,
      isVariadic: true,
      completes: 'nodes',
    },
  ],
  options: [
    { name: 'follow', description: 'continue with new events until Ctrl-C' },
    { name: 'failed', description: 'only events that failed' },
    { name: 'kind', value: 'text', description: 'only events whose name has this text' },
    { name: 'key', value: 'text', description: 'only events about a key or object with this text' },
    { name: 'since', value: 'time', description: 'such as 10m, 2h, 1d or 2026-01-31T12:00:00Z' },
    {
      name: 'last',
      value: 'number',
      description: `newest events of each node (default: ${DEFAULT_LAST} without a filter)`,
    },
  ],
  examples: [
    'events',
    'events --failed --since 1h',
    'events --follow node1',
    'events --kind "Add Pod"',
  ],
  async run(context, input) {
    const request = requestOf(context, input);
    const nodes = await context.nodes(input.arguments['node']);
    if (input.options['follow'] === true) return await follow(context, nodes, request);
    return await list(context, nodes, request);
  },
};

export const EventsArgumentError = defineError({
  name: 'EventsArgumentError',
  code: 'CV_NETCTL_EVENTS_ARGUMENT',
  rejects: 'configuration',
  remedy: 'netctl events --help lists the options with examples.',
});

interface EventsRequest {
  readonly filter: EventFilter;
  /** Arguments of the event history. */
  readonly query: string;
  /** Whether the command line says which events of the past are meant. */
  readonly hasPast: boolean;
}

function requestOf({ clock }: CommandContext, { options }: CommandInput): EventsRequest {
  const text = (name: string): string | undefined => {
    const value = options[name];
    return typeof value === 'string' ? value : undefined;
  };
  const filter = { kind: text('kind'), onlyFailed: options['failed'] === true, key: text('key') };
  const isFiltered = filter.kind !== undefined || filter.onlyFailed || filter.key !== undefined;
  const since = text('since');
  const last = text('last');
  if (since !== undefined && last !== undefined)
    throw new EventsArgumentError('--since and --last exclude each other');
  const hasPast = since !== undefined || last !== undefined;
  const query =
    since !== undefined
      ? `?since=${encodeURIComponent(timeOf(since, clock.wallTime()))}`
      : last !== undefined
        ? `?last=${countOf(last)}`
        : isFiltered
          ? ''
          : `?last=${DEFAULT_LAST}`;
  return { filter, query, hasPast };
}

function timeOf(text: string, now: number): string {
  const time = timeOfOption(text, now);
  if (time !== undefined) return time;
  throw new EventsArgumentError(`--since ${text}: not a duration and not a time`);
}

function countOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new EventsArgumentError(`--last ${text}: not a number`);
}

// ---- the past

async function list(
  context: CommandContext,
  nodes: readonly ClusterNode[],
  request: EventsRequest,
): Promise<ExitCode> {
  const replies = await context.askAll(nodes, (node) => past(context, node, request));
  const all = replies.flatMap(({ value = [] }) => value).sort((a, b) => a.time - b.time);
  const isWide = context.output.format === 'wide';
  const answered = replies.some(({ failure }) => failure === undefined);
  if (answered && all.length === 0 && isForPeople(context))
    context.output.text('No such event. Without filters, netctl events shows the newest ones.');
  else
    context.output.list(
      {
        columns: [
          { title: 'NODE', whenNarrow: 'keep' },
          { title: 'DATE', isWide: true },
          { title: 'TIME', whenNarrow: 'keep' },
          { title: 'NUMBER', isRightAligned: true, isWide: true },
          { title: 'TOOK', isRightAligned: true, whenNarrow: 'keep' },
          { title: 'EVENT' },
        ],
        rows: [...all.map((event) => rowOf(event, isWide)), ...failureRows(replies)],
      },
      {
        events: all.map(({ node, record }) => ({ node, ...record })),
        failures: failuresOf(replies),
      },
    );
  return context.explainFailures(replies);
}

function rowOf(event: ShownEvent, isWide: boolean): TableRow {
  const { node, time, seqNum, tookMs, failures } = event;
  const date = Number.isFinite(time) ? new Date(time).toISOString().slice(0, 10) : '';
  const took = durationText(tookMs);
  return {
    cells: [node, date, timeText(time), String(seqNum), took, eventText(event, isWide)],
    ...(failures.length > 0 && { color: 'red' as const }),
  };
}

/** Of the records, only those that are wanted are kept: the others may have megabytes. */
async function past(
  context: CommandContext,
  node: ClusterNode,
  { filter, query }: EventsRequest,
): Promise<ShownEvent[]> {
  const found: ShownEvent[] = [];
  for await (const event of recorded(context, node, query))
    if (isWanted(event, filter)) found.push(event);
  return found;
}

async function* recorded(
  context: CommandContext,
  node: ClusterNode,
  query: string,
): AsyncGenerator<ShownEvent, void, void> {
  const path = `controller/event-history${query}`;
  const { ProcessedEvent } = await import('#documents/events.ts');
  for await (const { value } of askItems(context, node, path))
    yield shownEvent(node.name, inForm(ProcessedEvent, value));
}

// ---- the future

async function follow(
  context: CommandContext,
  nodes: readonly ClusterNode[],
  request: EventsRequest,
): Promise<ExitCode> {
  await Promise.all(nodes.map((node) => new FollowedNode(context, node, request).follow()));
  return ExitCode.Success;
}

class FollowedNode {
  readonly #context: CommandContext;
  readonly #node: ClusterNode;
  readonly #request: EventsRequest;
  /** ID or number of the last event; undefined: none is known yet. */
  #after: string | undefined;
  #answers: () => void = () => undefined;

  constructor(context: CommandContext, node: ClusterNode, request: EventsRequest) {
    this.#context = context;
    this.#node = node;
    this.#request = request;
  }

  follow(): Promise<void> {
    return followNode(this.#context, this.#node, async (answers) => {
      this.#answers = answers;
      if (this.#after === undefined) await this.#begin();
      await this.#stream();
    });
  }

  /** Shows the events of the past that are asked for. */
  async #begin(): Promise<void> {
    const { hasPast, query } = this.#request;
    for await (const event of recorded(this.#context, this.#node, hasPast ? query : '?last=1')) {
      if (hasPast) this.#show(event);
      this.#after = String(event.seqNum);
    }
  }

  /** Until the node ends the stream, which it does every few minutes. */
  async #stream(): Promise<void> {
    const { ProcessedEvent } = await import('#documents/events.ts');
    const query = this.#after === undefined ? '' : `?after=${encodeURIComponent(this.#after)}`;
    try {
      for await (const { id, event, data } of this.#context.events(
        this.#node,
        `controller/events${query}`,
      )) {
        this.#after = id ?? this.#after;
        this.#answers();
        if (event === 'processed')
          this.#show(
            shownEvent(this.#node.name, inForm(ProcessedEvent, parseReply(this.#node, data))),
          );
      }
    } catch (thrown) {
      if (!isUnknownRoute(thrown)) throw thrown;
      await this.#poll();
    }
  }

  /** An older agent has no stream. */
  async #poll(): Promise<void> {
    const { clock, signal } = this.#context;
    let newest = -1;
    for await (const { seqNum } of recorded(this.#context, this.#node, '?last=1')) newest = seqNum;
    // The numbers of an agent that was restarted begin again.
    let after = Math.min(Number(this.#after ?? -1), newest);
    while (!signal.aborted) {
      const query = `?from=${after + 1}&to=${Number.MAX_SAFE_INTEGER}`;
      for await (const event of recorded(this.#context, this.#node, query)) {
        this.#show(event);
        after = event.seqNum;
      }
      this.#after = String(after);
      this.#answers();
      await clock.sleep(POLL_MS, signal).catch(() => undefined);
    }
  }

  #show(event: ShownEvent): void {
    const { output } = this.#context;
    if (!isWanted(event, this.#request.filter)) return;
    const { node, time, tookMs, record } = event;
    const text = eventText(event, output.format === 'wide');
    const head = `${timeText(time)}  ${node}  ${durationText(tookMs).padStart(6)}`;
    output.event(`${head}  ${text}`, { node, ...record });
  }
}
