-- Stores how far buckets of projections have read the logs, where that has changed nothing in them.
--
-- KEYS  for each bucket: checkpoint, hold
-- ARGV  1 most ms that a hold can have left (one with more was set by a clock that ran ahead, and is
--       none); then for each bucket: its checkpoint as it was read, and the new one
-- Returns  for each bucket 'done' | 'moved' | 'held', as apply_projection.lua does

local found = redis.call('MGET', unpack(KEYS))
local results, changes = {}, {}
for i = 1, #KEYS, 2 do
  local left = found[i + 1] and redis.call('PTTL', KEYS[i + 1]) or -1
  if found[i] ~= ARGV[i + 1] then
    results[#results + 1] = 'moved'
  elseif left >= 0 and left <= tonumber(ARGV[1]) then
    results[#results + 1] = 'held'
  else
    results[#results + 1] = 'done'
    changes[#changes + 1] = KEYS[i]
    changes[#changes + 1] = ARGV[i + 2]
  end
end
if #changes > 0 then
  redis.call('MSET', unpack(changes))
end
return results
