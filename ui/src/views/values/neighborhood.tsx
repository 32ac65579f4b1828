/** Picture of one value between those that it needs and those that need it. */
import type { SingleValue } from '#documents/scheduler/single-value.ts';
import { ValueStateBadge } from '../../components/badge.tsx';
import { type Column, type Neighbor, neededBy, needing, type Relation } from './neighbors.ts';
import { ValueKey } from './value-key.tsx';
import { ValueLink } from './value-link.tsx';
import { count } from './value-text.ts';

/** Of a row in pixels: the lines end in the middle of the rows. */
const ROW = 58;
/** The value in the middle has room in so many. */
const MIN_ROWS = 2;
const GAP_WIDTH = 90;

const relationTexts: Readonly<Record<Relation, string>> = {
  base: '',
  met: '',
  unmet: 'missing',
  derived: '',
  dependent: '',
  waiting: 'waits',
};

interface Props {
  readonly document: SingleValue;
  /** Shows the whole list of those that it needs, or that need it. */
  readonly onMore: (side: 'needed' | 'needing') => void;
}

export function Neighborhood({ document, onMore }: Props) {
  const needed = neededBy(document);
  const dependents = needing(document);
  const rows = Math.max(MIN_ROWS, needed.neighbors.length, dependents.neighbors.length);
  const height = rows * ROW;
  return (
    <div class="neighborhood">
      <Side
        title="Needs"
        none="nothing"
        column={needed}
        height={height}
        onMore={() => onMore('needed')}
      />
      <Lines column={needed} height={height} isLeft />
      <div class="middle">
        <p class="side-title" aria-hidden="true" />
        <div class="center" style={{ height: `${height}px` }}>
          <p>
            <ValueStateBadge state={document.state} />
            <code>{document.key}</code>
          </p>
        </div>
      </div>
      <Lines column={dependents} height={height} />
      <Side
        title="Needed by, and derived"
        none="nothing"
        column={dependents}
        height={height}
        onMore={() => onMore('needing')}
      />
    </div>
  );
}

interface SideProps {
  readonly title: string;
  readonly none: string;
  readonly column: Column;
  readonly height: number;
  readonly onMore: () => void;
}

function Side({ title, none, column: { neighbors, more }, height, onMore }: SideProps) {
  return (
    <div>
      <p class="side-title">{title}</p>
      <ul class="side" style={{ height: `${height}px` }} aria-label={title}>
        {neighbors.length === 0 && <li class="quiet none">{none}</li>}
        {neighbors.map((neighbor) => (
          <li key={neighbor.id} class={neighbor.relation} style={{ height: `${ROW}px` }}>
            <NeighborText neighbor={neighbor} />
          </li>
        ))}
      </ul>
      {more > 0 && (
        <button type="button" onClick={onMore}>
          and {count(more, 'other', 'others')}
        </button>
      )}
    </div>
  );
}

function NeighborText({ neighbor: { key, text, state, relation, label } }: { neighbor: Neighbor }) {
  const word = relationTexts[relation];
  return (
    <>
      {key === undefined ? <ValueKey text={text} /> : <ValueLink valueKey={key} isShort />}
      <span class="about">
        <ValueStateBadge state={state} />
        {word !== '' && <strong>{word}</strong>} <span title={label}>{label}</span>
      </span>
    </>
  );
}

interface LinesProps {
  readonly column: Column;
  readonly height: number;
  readonly isLeft?: true;
}

/** One line from each row to the middle. */
function Lines({ column: { neighbors }, height, isLeft }: LinesProps) {
  const top = (height - neighbors.length * ROW) / 2;
  const middle = height / 2;
  return (
    <div>
      <p class="side-title" aria-hidden="true" />
      <svg
        aria-hidden="true"
        width={GAP_WIDTH}
        height={height}
        viewBox={`0 0 ${GAP_WIDTH} ${height}`}
      >
        {neighbors.map(({ id, relation }, at) => {
          const y = top + (at + 0.5) * ROW;
          const [from, to] = isLeft ? [y, middle] : [middle, y];
          const half = GAP_WIDTH / 2;
          return (
            <path
              key={id}
              class={relation}
              d={`M0 ${from} C${half} ${from} ${half} ${to} ${GAP_WIDTH} ${to}`}
            />
          );
        })}
      </svg>
    </div>
  );
}
