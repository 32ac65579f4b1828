/** The graph of workloads that talk. All of it is also in the table below it. */
import type { TalkingPair } from '#documents/flows.ts';
import { href } from '../../location.ts';
import { BOX, type Box, type Edge, edgePath, flowLayout, MAX_BOXES } from './flow-layout.ts';

/** Characters that fit into a box. */
const MAX_NAME = 40;

export function FlowGraph({ pairs }: { readonly pairs: readonly TalkingPair[] }) {
  const { width, height, boxes, edges } = flowLayout(pairs);
  return (
    <figure class="flow-graph">
      <svg viewBox={`0 0 ${width} ${height}`}>
        <title>Workloads that talk</title>
        {edges.map((edge) => (
          <Line key={`${edge.from.name} ${edge.to.name}`} edge={edge} />
        ))}
        {boxes.map((box) => (
          <Workload key={box.name} box={box} />
        ))}
      </svg>
      <figcaption class="quiet">
        Clients left, servers right. A thicker line has more connections. Dashed: some were denied,
        refused or not answered; dotted: all of them.
        {boxes.length >= MAX_BOXES &&
          ` The ${MAX_BOXES} workloads with most connections are shown.`}
      </figcaption>
    </figure>
  );
}

function Line({ edge }: { readonly edge: Edge }) {
  const { connections, failed } = edge;
  const kind = failed === 0 ? '' : failed < connections ? 'some-failed' : 'failed';
  const strokeWidth = 1.5 + Math.min(Math.log10(connections), 5);
  return <path class={`edge ${kind}`} d={edgePath(edge)} style={{ strokeWidth }} />;
}

function Workload({ box: { name, x, y } }: { readonly box: Box }) {
  const text = name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME - 1)}…`;
  return (
    <a href={href('flows', { pod: name })}>
      <rect x={x} y={y} width={BOX.width} height={BOX.height} rx={6} />
      <text x={x + BOX.width / 2} y={y + BOX.height / 2 + 5}>
        {text}
      </text>
    </a>
  );
}
