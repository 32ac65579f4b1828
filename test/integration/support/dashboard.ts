import { readFileSync } from 'node:fs';

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

/** The queries of the Grafana dashboard in deploy/, with the variables of Grafana filled in. */
export function dashboardQueries(): { title: string; expression: string }[] {
  const text = readFileSync('deploy/prometheus/dashboard.json', 'utf8');
  const { panels } = JSON.parse(text) as Dashboard;
  return panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({
      title,
      expression: expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'),
    })),
  );
}
