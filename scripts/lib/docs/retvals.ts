import { retvalText } from '#vpp/binapi/retval-error.ts';

/** Numbers that VPP gives as `retval` and the project has a text for. */
export function retvalTable(): string {
  const unknown = retvalText(1);
  const rows: string[] = [];
  for (let retval = -1; retval > -1000; retval--)
    if (retvalText(retval) !== unknown) rows.push(`| ${retval} | ${retvalText(retval)} |`);
  return ['| retval | meaning |', '|---:|---|', ...rows].join('\n');
}
