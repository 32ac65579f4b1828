/** Places of the nodes on the map: this one in the middle, the others on an ellipse around it. */

/** A node's place is the middle of its box. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface MapLayout {
  readonly width: number;
  readonly height: number;
  readonly center: Place;
  /** In the order of the nodes, clockwise from above. */
  readonly others: readonly Place[];
}

/** With more nodes, their boxes would overlap. */
export const MAX_OTHERS = 24;

export const BOX = { width: 118, height: 56 } as const;

const WIDTH = 1_200;
const MARGIN = 4;

export function mapLayout(count: number): MapLayout {
  const height = heightFor(count);
  const center = { x: WIDTH / 2, y: height / 2 };
  const radiusX = WIDTH / 2 - BOX.width / 2 - MARGIN;
  const radiusY = height / 2 - BOX.height / 2 - MARGIN;
  const others = Array.from({ length: count }, (_, position) => {
    // one or two nodes are beside this one: above it the map has no space
    const from = count <= 2 ? 0 : -Math.PI / 2;
    const angle = from + (2 * Math.PI * position) / count;
    return {
      x: Math.round(center.x + radiusX * Math.cos(angle)),
      y: Math.round(center.y + radiusY * Math.sin(angle)),
    };
  });
  return { width: WIDTH, height, center, others };
}

function heightFor(count: number): number {
  if (count <= 2) return 160;
  if (count <= 8) return 340;
  return count <= 16 ? 500 : 800;
}

/** Width of the line of a tunnel: each factor of ten in its rate is a step. */
export function lineWidth(bitsPerSecond: number | undefined): number {
  if (bitsPerSecond === undefined || bitsPerSecond < 1) return 1.5;
  return 1.5 + Math.min(Math.log10(bitsPerSecond), 10) * 0.7;
}

/** A name that fits into a box. */
export function shortName(name: string, length = 14): string {
  return name.length <= length ? name : `${name.slice(0, length - 1)}…`;
}
