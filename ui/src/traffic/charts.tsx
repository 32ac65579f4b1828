/** Charts of the traffic of an interface, each with a text in its place for who does not see it. */
import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { colorScheme } from './color-scheme.ts';
import { createPlot, type Line, plotData } from './plot.ts';
import type { RatePoint } from './traffic-history.ts';
import { bitRateText, chartText, perSecondText } from './traffic-text.ts';

const bitLines: readonly Line[] = [
  { label: 'in', rate: 'inBits', color: '--handlers', isDashed: false },
  { label: 'out', rate: 'outBits', color: '--execution', isDashed: true },
];
const lossLines: readonly Line[] = [
  { label: 'drops', rate: 'drops', color: '--bad', isDashed: false },
  { label: 'errors', rate: 'errors', color: '--planning', isDashed: true },
];

const SPARKLINE_WIDTH = 120;
const SPARKLINE_HEIGHT = 28;
const CHART_HEIGHT = 180;

interface PlotProps {
  readonly points: readonly RatePoint[];
  readonly lines: readonly Line[];
  readonly class: string;
  readonly label: string;
  readonly height: number;
  /** undefined: that of the place. */
  readonly width?: number;
  readonly axisText?: (value: number) => string;
}

/** The canvas is made when it comes into sight: a table may have hundreds. */
function Plot({ points, lines, label, height, width, axisText, class: name }: PlotProps) {
  const host = useRef<HTMLSpanElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(points);
  latest.current = points;

  useEffect(() => {
    const element = host.current!;
    const seen = new IntersectionObserver((entries) => {
      if (plot.current || !entries.some(({ isIntersecting }) => isIntersecting)) return;
      plot.current = createPlot(element, latest.current, {
        width: width ?? element.clientWidth,
        height,
        lines,
        axisText,
      });
    });
    seen.observe(element);
    const resized = new ResizeObserver(() => {
      if (width === undefined)
        plot.current?.setSize({ width: Math.max(element.clientWidth, 1), height });
    });
    resized.observe(element);
    return () => {
      seen.disconnect();
      resized.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [width, height, lines, axisText]);

  useEffect(() => {
    plot.current?.setData(plotData(points, lines));
  }, [points, lines]);

  useSignalEffect(() => {
    if (colorScheme.value) plot.current?.redraw(false, true);
  });

  return <span ref={host} class={name} role="img" aria-label={label} />;
}

export function Sparkline({ points }: { readonly points: readonly RatePoint[] }) {
  return (
    <Plot
      class="sparkline"
      points={points}
      lines={bitLines}
      label={chartText(points)}
      width={SPARKLINE_WIDTH}
      height={SPARKLINE_HEIGHT}
    />
  );
}

/** The large charts of one interface: bits, and what was lost. */
export function TrafficCharts({ points }: { readonly points: readonly RatePoint[] }) {
  const last = points.at(-1)?.rates;
  const losses = last
    ? `drops ${perSecondText(last.drops)}, errors ${perSecondText(last.errors)}`
    : 'drops and errors unknown';
  return (
    <div class="charts">
      <figure>
        <figcaption>
          Traffic <LineNames lines={bitLines} />
        </figcaption>
        <Plot
          class="chart"
          points={points}
          lines={bitLines}
          label={chartText(points)}
          height={CHART_HEIGHT}
          axisText={bitRateText}
        />
      </figure>
      <figure>
        <figcaption>
          Packets lost <LineNames lines={lossLines} />
        </figcaption>
        <Plot
          class="chart"
          points={points}
          lines={lossLines}
          label={losses}
          height={CHART_HEIGHT}
          axisText={perSecondText}
        />
      </figure>
    </div>
  );
}

function LineNames({ lines }: { readonly lines: readonly Line[] }) {
  return (
    <>
      {lines.map(({ label, color, isDashed }) => (
        <span key={label} class={isDashed ? 'line-name dashed' : 'line-name'}>
          <i style={{ borderColor: `var(${color})` }} />
          {label}
        </span>
      ))}
    </>
  );
}
