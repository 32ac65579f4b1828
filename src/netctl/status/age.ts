/** Time that has passed, in its largest unit: `45s`, `12min`, `3h`, `9d`. */
export function ageText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 120) return `${whole}s`;
  if (whole < 7_200) return `${Math.floor(whole / 60)}min`;
  if (whole < 172_800) return `${Math.floor(whole / 3_600)}h`;
  return `${Math.floor(whole / 86_400)}d`;
}
