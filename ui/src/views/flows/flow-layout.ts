/** Places of the workloads in the graph: clients left, servers right, those that are both in the middle. */
import type { TalkingPair } from '#documents/flows.ts';

export interface Box {
  readonly name: string;
  /** Of its left upper corner. */
  readonly x: number;
  readonly y: number;
}

export interface Edge {
  readonly from: Box;
  readonly to: Box;
  readonly connections: number;
  /** denied, refused or not answered */
  readonly failed: number;
}

export interface FlowLayout {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly edges: readonly Edge[];
}

export const BOX = { width: 300, height: 30 } as const;
const WIDTH = 1_200;
const ROW = 44;
const MARGIN = 6;
/** More are in the table alone. */
export const MAX_BOXES = 30;

/** @param pairs those with most connections first */
export function flowLayout(pairs: readonly TalkingPair[]): FlowLayout {
  const shown = new Set<string>();
  const edges = new Map<
    string,
    { from: string; to: string; connections: number; failed: number }
  >();
  for (const { client, server, connections, refused, noAnswer, denied } of pairs) {
    const added = [client, server].filter((name) => !shown.has(name));
    if (shown.size + new Set(added).size > MAX_BOXES) continue;
    for (const name of added) shown.add(name);
    const key = `${client} ${server}`;
    const edge = edges.get(key) ?? { from: client, to: server, connections: 0, failed: 0 };
    edge.connections += connections;
    edge.failed += refused + noAnswer + denied;
    edges.set(key, edge);
  }
  const clients = new Set([...edges.values()].map(({ from }) => from));
  const servers = new Set([...edges.values()].map(({ to }) => to));
  const columns: string[][] = [[], [], []];
  for (const name of [...shown].sort())
    columns[clients.has(name) ? (servers.has(name) ? 1 : 0) : 2]!.push(name);
  const rows = Math.max(...columns.map(({ length }) => length));
  const height = rows * ROW + 2 * MARGIN;
  const boxes = new Map<string, Box>();
  for (const [column, names] of columns.entries()) {
    const x = MARGIN + (column * (WIDTH - 2 * MARGIN - BOX.width)) / 2;
    const top = (height - names.length * ROW) / 2;
    for (const [row, name] of names.entries())
      boxes.set(name, { name, x, y: top + row * ROW + (ROW - BOX.height) / 2 });
  }
  return {
    width: WIDTH,
    height,
    boxes: [...boxes.values()],
    edges: [...edges.values()].map(({ from, to, ...counts }) => ({
      from: boxes.get(from)!,
      to: boxes.get(to)!,
      ...counts,
    })),
  };
}

/** A curve from the right side of one box to the left side of another; within a column, around it. */
export function edgePath({ from, to }: Pick<Edge, 'from' | 'to'>): string {
  const [x1, y1] = [from.x + BOX.width, from.y + BOX.height / 2];
  const y2 = to.y + BOX.height / 2;
  if (to.x <= from.x) {
    const x2 = to.x + BOX.width;
    const bend = Math.max(x1, x2) + 60;
    return `M${x1} ${y1} C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`;
  }
  const middle = (x1 + to.x) / 2;
  return `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${to.x} ${y2}`;
}
