/** Charts of rates with uPlot, which draws on a canvas. */
import uPlot from 'uplot';
import { currentColor } from './color-scheme.ts';
import type { RatePoint, Rates } from './traffic-history.ts';

/** A line of a chart; the second one is dashed, so that color alone does not tell them apart. */
export interface Line {
  readonly label: string;
  readonly rate: keyof Rates;
  /** Variable of the style sheet. */
  readonly color: string;
  readonly isDashed: boolean;
}

export interface PlotOptions {
  readonly width: number;
  readonly height: number;
  readonly lines: readonly Line[];
  /** Text of a value at the axis; undefined: a sparkline without axes. */
  readonly axisText: ((value: number) => string) | undefined;
}

/** Shortest time of the axis. */
const MIN_SECONDS = 30;

/** One time axis and one list of values for each line. */
export function plotData(points: readonly RatePoint[], lines: readonly Line[]): uPlot.AlignedData {
  return [
    points.map(({ at }) => at),
    ...lines.map(({ rate }) => points.map(({ rates }) => rates?.[rate] ?? null)),
  ];
}

export function createPlot(
  host: HTMLElement,
  points: readonly RatePoint[],
  options: PlotOptions,
): uPlot {
  return new uPlot(plotOptions(options), plotData(points, options.lines), host);
}

function plotOptions({ width, height, lines, axisText }: PlotOptions): uPlot.Options {
  const axis = {
    stroke: () => currentColor('--quiet'),
    grid: { stroke: () => currentColor('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  return {
    width,
    height,
    cursor: { show: false },
    legend: { show: false },
    ...(axisText === undefined && { padding: [2, 2, 2, 2] }),
    scales: {
      // one reading alone has no length of time
      x: { range: (_, from, to) => [Math.min(from ?? 0, (to ?? 0) - MIN_SECONDS), to ?? 0] },
      // from nothing, so that the height of a line says how much it is
      y: { range: (_, __, max) => [0, Math.max(max ?? 0, 1) * 1.05] },
    },
    axes:
      axisText === undefined
        ? [{ show: false }, { show: false }]
        : [
            {
              ...axis,
              space: 80,
              values: (_, ticks) => ticks.map((seconds) => clockText(seconds)),
            },
            { ...axis, size: 84, values: (_, ticks) => ticks.map((value) => axisText(value)) },
          ],
    series: [
      {},
      ...lines.map(({ color, isDashed }) => ({
        stroke: () => currentColor(color),
        width: 1.5,
        points: { show: false },
        spanGaps: false,
        ...(isDashed && { dash: [4, 3] }),
      })),
    ],
  };
}

/** `14:03:09` of UTC, as all times of the page. */
function clockText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(11, 19);
}
