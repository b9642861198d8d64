// The icons: one path each, drawn with one stroke weight on a 24-unit grid.
const paths = {
  chat: "M4 5h16v11h-9l-4.5 4v-4H4zM8.5 9.5h7M8.5 12.5h4",
  upload: "M12 16V4.5M7.5 9 12 4.5 16.5 9M4 15v5h16v-5",
  mail: "M3.5 5.5h17v13h-17zM4 6l8 6.5L20 6",
  code: "M8.5 7.5 4 12l4.5 4.5M15.5 7.5 20 12l-4.5 4.5M13.5 5l-3 14",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20c.5-3.5 3.5-5.5 7.5-5.5s7 2 7.5 5.5",
  people:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 19.5c.5-3.5 3-5 6.5-5s6 1.5 6.5 5M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.8c2 .6 3.2 2.2 3.5 4.7",
  modules: "M4 4h7v7H4zM13 13h7v7h-7zM4 13h7v7H4zM16.5 4.5v6M13.5 7.5h6",
  gift: "M4 11h16v9H4zM3 7.5h18V11H3zM12 7.5V20M12 7.5C10 3 6 4 7 7.5M12 7.5c2-4.5 6-3.5 5 0",
  sheet: "M4 4h16v16H4zM4 9.5h16M4 14.7h16M10 9.5V20",
  up: "M12 19V5M6 11l6-6 6 6",
  to: "M4 12h16M14 6l6 6-6 6",
  edit: "m4.5 19.5 1-4.5L16.5 4l3.5 3.5L9 18.5z",
  check: "m5 12.5 4.5 4.5L19 7.5",
};

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
