// The icons: one path each, drawn with one stroke weight on a 24-unit grid.
const paths = {
  chat: "M4 5h16v11h-9l-4.5 4v-4H4zM8.5 9.500h7M8.5 12.500h4",
  upload: "M12 16V4.500M7.5 9 12 4.5 16.5 9M4 15v5h16v-5",
  send: "M3 5.500h13v9.500H3zM3.5 6l6 4.500L15.5 6M18.5 9H21v10.500h-9V17.5",
  code: "M8.5 7.5 4 12l4.5 4.500M15.5 7.5 20 12l-4.5 4.500M13.5 5l-3 14",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20c.5-3.5 3.5-5.5 7.5-5.500s7 2 7.5 5.5",
  modules: "M4 4h7v7H4zM13 13h7v7h-7zM4 13h7v7H4zM16.5 4.500v6M13.5 7.500h6",
  check: "m5 12.5 4.5 4.500L19 7.5",
  leaf: "M5 19c0-9 5-14 15-14 0 10-5 14-12 14-1.5 0-3 0-3 0zm0 0c3-5 6-7 9-8.5",
};

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
