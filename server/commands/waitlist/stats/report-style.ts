// The stylesheet of the HTML report.
export const styles = `
:root { color-scheme: light dark; --ink: #1c2420; --soft: #56615a; --paper: #fbfaf6; --line: #d9ddd7; --bar: #2f6b4f }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ece8; --soft: #a3ada6; --paper: #151a17; --line: #343d37; --bar: #7fc4a0 }
}
body { background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 52rem; padding: 2rem 1rem }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 }
.scroll { margin: 1.5rem 0; overflow-x: auto }
.scroll h2 { font-size: 1rem; margin: 0 0 .25rem }
.scroll > * { min-width: 40rem }
svg { display: block; height: auto; width: 100% }
svg text { fill: var(--ink); font-size: 13px; font-variant-numeric: tabular-nums }
.bar { fill: var(--bar) }
.flagged { fill: var(--paper); stroke: var(--bar); stroke-width: 1.5 }
.axis { stroke: var(--soft) }
.grid { stroke: var(--line) }
table { border-collapse: collapse; table-layout: fixed; width: 100% }
caption { color: var(--soft); font-size: .875rem; padding: .5rem 0; text-align: left }
th, td { border-bottom: 1px solid var(--line); font-weight: 400; padding: .3rem 0 .3rem 1rem; text-align: right; white-space: nowrap }
thead th { color: var(--soft); font-size: .875rem }
th:first-child { padding-left: 0; text-align: left; white-space: normal; overflow-wrap: anywhere; width: 14rem }
td { font-variant-numeric: tabular-nums }
@media (max-width: 44rem) {
  .scroll table { min-width: 34rem }
  th:first-child { background: var(--paper); left: 0; position: sticky; width: 8.5rem }
}
@media print {
  caption { break-after: avoid }
  svg, tr { break-inside: avoid }
  .scroll { overflow: visible }
}
.note { color: var(--soft); font-size: .875rem; margin-top: 2.5rem }
`;
