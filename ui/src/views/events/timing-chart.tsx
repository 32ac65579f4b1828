/** Where the time of one event went: bars on one axis, each with its start and duration as text. */
import { durationText } from '../../components/times.ts';
import type { EventTiming, Interval, PhaseKind } from './event-timing.ts';

interface Props {
  readonly timing: EventTiming;
  /** What the start of the chart is. */
  readonly from: string;
}

export function TimingChart({ timing, from }: Props) {
  const { totalMs, phases, others, otherMs, acknowledgedMs } = timing;
  return (
    <table class="timing">
      <caption>
        From {from} to the end of processing: {durationText(totalMs)}
        {acknowledgedMs !== undefined &&
          `; the last reply of VPP and Linux came after ${durationText(acknowledgedMs)}`}
      </caption>
      <thead>
        <tr>
          <th scope="col">Phase</th>
          <th scope="col" class="number">
            Start
          </th>
          <th scope="col" class="number">
            Duration
          </th>
          <td class="bar" aria-hidden="true" />
        </tr>
      </thead>
      <tbody>
        {phases.map((phase, at) => (
          <tr key={at}>
            <th scope="row">{phase.name}</th>
            <td class="number">{durationText(phase.startMs)}</td>
            <td class="number">{durationText(phase.tookMs)}</td>
            <td class="bar" aria-hidden="true">
              <Bars
                intervals={[phase]}
                kind={phase.kind}
                totalMs={totalMs}
                markMs={acknowledgedMs}
              />
            </td>
          </tr>
        ))}
        <tr>
          <th scope="row">other</th>
          <td class="number">–</td>
          <td class="number">{durationText(otherMs)}</td>
          <td class="bar" aria-hidden="true">
            <Bars intervals={others} kind="other" totalMs={totalMs} markMs={acknowledgedMs} />
          </td>
        </tr>
      </tbody>
    </table>
  );
}

interface BarsProps {
  readonly intervals: readonly Interval[];
  readonly kind: PhaseKind;
  readonly totalMs: number;
  readonly markMs: number | undefined;
}

const WIDTH = 1_000;
/** A bar that is too short to be seen is shown all the same. */
const MIN_WIDTH = 4;

function Bars({ intervals, kind, totalMs, markMs }: BarsProps) {
  return (
    <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
      {intervals.map(({ startMs, tookMs }, at) => (
        <rect key={at} class={kind} height={10} {...extent(startMs, tookMs, totalMs)} />
      ))}
      {markMs !== undefined && (
        <rect class="mark" height={10} {...extent(markMs, 0, totalMs)} width={MIN_WIDTH / 2} />
      )}
    </svg>
  );
}

function extent(startMs: number, tookMs: number, totalMs: number) {
  const scale = totalMs > 0 ? WIDTH / totalMs : 0;
  const width = Math.max(MIN_WIDTH, tookMs * scale);
  return { x: Math.min(startMs * scale, WIDTH - width), width };
}

/** The parts of the processing of one event in one line, without text. */
export function CompactBar({ timing }: { readonly timing: EventTiming }) {
  const { processingMs, totalMs, phases, others } = timing;
  const tookMs = totalMs - processingMs;
  const parts = [
    ...others.map((gap) => ({ ...gap, kind: 'other' as const })),
    ...phases.filter(({ startMs }) => startMs >= processingMs),
  ];
  return (
    <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
      {parts.map(({ kind, startMs, tookMs: took }, at) => (
        <rect key={at} class={kind} height={10} {...extent(startMs - processingMs, took, tookMs)} />
      ))}
    </svg>
  );
}

const legend: readonly (readonly [PhaseKind, string])[] = [
  ['queue', 'queue'],
  ['handlers', 'handlers'],
  ['planning', 'reading and planning'],
  ['execution', 'execution'],
  ['other', 'other'],
];

/** @param hasMark whether the bars show the last reply of VPP and Linux */
export function Legend({ hasMark = false }: { readonly hasMark?: boolean }) {
  return (
    <ul class="legend">
      {legend.map(([kind, text]) => (
        <li key={kind}>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect class={kind} width={10} height={10} />
          </svg>{' '}
          {text}
        </li>
      ))}
      {hasMark && (
        <li>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <rect class="mark" x={4} width={2} height={10} />
          </svg>{' '}
          last reply of VPP and Linux
        </li>
      )}
    </ul>
  );
}
