-- Writes what a projection makes of some leaves, together with its new checkpoint.
--
-- KEYS  1 checkpoint  2 hold; then the keys written
-- ARGV  1 checkpoint as it was read  2 the new one  3 most ms that a hold can have left (one with
--       more was set by a clock that ran ahead, and is none); then for each command: how many words
--       follow, its name, which of the written keys (1..), and its arguments
-- Returns  'done' | 'moved' (the checkpoint is another, or missing) | 'held' (another process
--          compares the data); the last two have written nothing
--
-- Redis has no rollback: a server without memory refuses the first write, before all else.

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 'moved'
end
local left = redis.call('PTTL', KEYS[2])
if left >= 0 and left <= tonumber(ARGV[3]) then
  return 'held'
end
redis.call('SET', KEYS[1], ARGV[2])
local at = 4
while at <= #ARGV do
  local last = at + tonumber(ARGV[at])
  redis.call(ARGV[at + 1], KEYS[tonumber(ARGV[at + 2]) + 2], unpack(ARGV, at + 3, last))
  at = last + 1
end
return 'done'
