"""The HTTP API and the page: `cleft serve`. Needs the extra `cleft[serve]`.

`cleft.server.app.create_app` makes the application, `cleft.server.run` serves
it; docs/server.md describes the API.
"""
