// The feature cards' icons, drawn with one stroke weight on a 24-unit grid.
const paths = {
  chat: "M4 5.500h16v10.500H11l-4.500 3.500V16H4zM8 9.500h8M8 12.500h5",
  upload: "M12 15.500V4M7.500 8.500 12 4l4.500 4.500M4 15v5h16v-5",
  send: "M3.500 6h11v9h-11zM3.500 6.500 9 11l5.500-4.500M17 9h3.500v11h-6v-2.500M17 17.200h.500",
  code: "M8.500 7 3.500 12l5 5M15.500 7l5 5-5 5M13.500 4.500l-3 15",
  people: "M12 12.500a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.500 20c.500-3.600 3.400-5.500 7.500-5.500s7 1.900 7.500 5.500",
  modules: "M4 4h7v7H4zM13 13h7v7h-7zM4 13h7v7H4zM16.500 4v7M13 7.500h7",
};

export function Icon({ name }: { name: keyof typeof paths }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
