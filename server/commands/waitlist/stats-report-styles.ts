// The stylesheet of the HTML page of stats, with the colours of client/tokens.css.
export const reportStyles = `
:root {
  color-scheme: light dark;
  --paper: #f5f7f1; --surface: #ffffff; --ink: #12231a; --ink-soft: #4a5a50; --line: #d9dfd4;
  --leaf: #14683f; --bed: #0f2a1c; --on-bed: #eef5ee; --on-bed-soft: #b5cbbb; --bloom: #f4b740;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0c1410; --surface: #131d17; --ink: #e9f0e9; --ink-soft: #a6b6ab; --line: #2b3a31;
    --leaf: #74d19d; --bed: #17402b; --on-bed: #e9f0e9; --on-bed-soft: #b4cdbd;
  }
}
body { background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; margin: 0 }
header, main, footer { padding: 1.5rem max(1rem, 50vw - 28rem) }
header { background: var(--bed); color: var(--on-bed) }
header p, h1, h2, dl, dd, figure, figure p { margin: 0 }
header { border-radius: 0 0 0 2.5rem }
header p { align-items: center; color: var(--bloom); display: flex; font-weight: 600; gap: .5rem }
.mark { fill: currentColor; height: 1.25rem }
h1 { font-size: 1.75rem; line-height: 1.2 }
h2 { font-size: 1rem }
dl { display: flex; flex-wrap: wrap; gap: .75rem clamp(1.25rem, 5vw, 2.5rem); margin-top: 1.25rem }
dt { color: var(--on-bed-soft); font-size: .875rem }
dd { font-size: clamp(1.25rem, 5vw, 1.5rem); font-variant-numeric: tabular-nums; font-weight: 600; line-height: 1.25 }
main { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); overflow-x: auto; padding-bottom: 0 }
figure, table { background: var(--surface); border: 1px solid var(--line); border-radius: 0 1.25rem; padding: 1rem }
figcaption, figure p { display: flex; gap: 1rem; justify-content: space-between }
figcaption span, figure p, footer { color: var(--ink-soft); font-size: .875rem }
figure svg { border-bottom: 1px solid var(--ink-soft); display: block; height: 9rem; margin: .75rem 0 .25rem; width: 100% }
rect { fill: var(--leaf) }
table { border-spacing: 0; font-variant-numeric: tabular-nums; width: 100% }
th, td { border-top: 1px solid var(--line); font-weight: 400; padding: .3rem 0 .3rem 2rem; text-align: right; white-space: nowrap }
thead th { border: 0; color: var(--ink-soft); font-size: .875rem }
th:first-child { overflow-wrap: anywhere; padding-left: 0; min-width: 5.25rem; text-align: left; white-space: normal; width: 100% }
@media (max-width: 40rem) {
  header, main, footer { padding-left: .75rem; padding-right: .75rem }
  figure, table { padding: .625rem }
  th, td { font-size: .8125rem; padding-left: .35rem }
  thead th { font-size: .75rem }
}
`;
