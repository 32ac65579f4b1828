/** The map of nodes and tunnels. All of it is also in the table below it. */
import type { NodeDocument } from '#documents/nodes.ts';
import { href } from '../../location.ts';
import type { Rates } from '../../traffic/traffic-history.ts';
import { BOX, lineWidth, mapLayout, type Place, shortName } from './map-layout.ts';
import { lastLine, nodeState } from './node-state.ts';

interface Props {
  readonly thisNode: NodeDocument | undefined;
  /** As many as the map has space for. */
  readonly others: readonly NodeDocument[];
  readonly rates: (node: NodeDocument) => Rates | undefined;
}

export function NodeMap({ thisNode, others, rates }: Props) {
  const { width, height, center, others: places } = mapLayout(others.length);
  return (
    <figure class="node-map">
      <svg viewBox={`0 0 ${width} ${height}`}>
        <title>This node and the tunnels to the others</title>
        <g>
          {others.map((node, position) => (
            <TunnelLine
              key={node.name}
              node={node}
              rates={rates(node)}
              from={center}
              to={places[position]!}
            />
          ))}
        </g>
        {thisNode && <NodeBox node={thisNode} rates={undefined} at={center} />}
        {others.map((node, position) => (
          <NodeBox key={node.name} node={node} rates={rates(node)} at={places[position]!} />
        ))}
      </svg>
      <figcaption class="quiet">
        A thicker line carries more traffic. Dashed: packets are dropped. Dotted: the node is not
        reached, or a value of its has a fault.
      </figcaption>
    </figure>
  );
}

interface LineProps {
  readonly node: NodeDocument;
  readonly rates: Rates | undefined;
  readonly from: Place;
  readonly to: Place;
}

function TunnelLine({ node, rates, from, to }: LineProps) {
  const isFaulty = nodeState(node).tone !== 'good';
  const isLossy = (rates?.drops ?? 0) > 0;
  const kind = isFaulty ? 'faulty' : isLossy ? 'dropping' : '';
  return (
    <line
      class={`tunnel ${kind}`}
      x1={from.x}
      y1={from.y}
      x2={to.x}
      y2={to.y}
      style={{ strokeWidth: lineWidth(rates && rates.inBits + rates.outBits) }}
    />
  );
}

interface BoxProps {
  readonly node: NodeDocument;
  readonly rates: Rates | undefined;
  readonly at: Place;
}

function NodeBox({ node, rates, at }: BoxProps) {
  const { tone, text } = nodeState(node);
  return (
    <a href={href('nodes', { node: node.name })}>
      <g class={`node ${tone}`} transform={`translate(${at.x} ${at.y})`}>
        <rect x={-BOX.width / 2} y={-BOX.height / 2} width={BOX.width} height={BOX.height} rx={6} />
        <text class="name" y={-12}>
          {shortName(node.name)}{' '}
        </text>
        <text y={5}>{shortName(text, 22)} </text>
        <text y={21} class={(rates?.drops ?? 0) > 0 ? 'lossy' : ''}>
          {lastLine(node, rates)}
        </text>
      </g>
    </a>
  );
}
