// Routing on the server: the address that is rendered for a request, with parameters and nested routes.
import { expect, it } from "vitest";
import { pageAddress, renderPage } from "./entry-server.tsx";
import type { PageRoute } from "./routes.tsx";
import { defaultSettings } from "./shared/site-settings.ts";

const handle = (title: string, status = 200) => ({
  status,
  head: { title, description: "", unlisted: false },
});

const table: PageRoute[] = [
  { path: "/", element: "Home", handle: handle("Home") },
  { path: "/about", element: "About", handle: handle("About") },
  {
    path: "/posts",
    handle: handle("Posts"),
    children: [
      { index: true, element: "All posts" },
      { path: ":slug", element: "One post", handle: handle("Post") },
    ],
  },
  { path: "*", element: "Nothing", handle: handle("Not found", 404) },
];

it.each([
  ["/", "", "/"],
  ["/", "joined", "/?joined"],
  ["/", "a=b&joined=1", "/?joined"],
  ["/about", "joined", "/about"],
  ["/posts/a-b", "", "/posts/a-b"],
])("the path %s with the query “%s” is rendered as %s", (path, query, address) => {
  expect(pageAddress(path, query, table)).toBe(address);
});

it.each(["/nope", "//", "/about/", "/About", "/%61bout", "/posts/%", "*"])(
  "the path %s is unknown and rendered as /404",
  (path) => {
    expect(pageAddress(path, "", table)).toBe("/404");
  },
);

it.each([
  ["/posts/a-b", "One post", "Post", 200],
  ["/404", "Nothing", "Not found", 404],
])(
  "the address %s renders “%s” with the title and the status of the innermost route",
  (address, text, title, status) => {
    const page = renderPage(address, { ...defaultSettings, notice: "" }, undefined, table);
    expect(page).toMatchObject({ status, address, head: { title } });
    expect(page.body).toContain(text);
  },
);
