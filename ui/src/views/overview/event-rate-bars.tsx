/** The number of events over the last ten minutes, as bars. */

const WIDTH = 240;
const HEIGHT = 36;

export function EventRateBars({ counts }: { readonly counts: readonly number[] }) {
  const most = Math.max(1, ...counts);
  const width = WIDTH / counts.length;
  return (
    <svg
      class="rate-bars"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Events of the last ten minutes, at most ${most} in ten seconds`}
    >
      {counts.map((count, at) => {
        const height = (count / most) * HEIGHT;
        // Bars have no identity but their place.
        const x = at * width;
        return <rect key={x} x={x} y={HEIGHT - height} width={width - 1} height={height} />;
      })}
    </svg>
  );
}
